// node members/check.js FOLDER VERSION: checks that the suite calls every member of the SDK that is
// not in declared.js, and prints a table with a row for each type that declares members.

import { readFileSync } from "node:fs";
import { DECLARED } from "./declared.js";

const [folder, version] = process.argv.slice(2);
const { members } = JSON.parse(readFileSync(`${folder}/${version}.json`, "utf8"));
const called = new Set(readFileSync(`${folder}/${version}.called`, "utf8").split("\n"));
const patterns = DECLARED.flatMap((entry) => entry.members);

const areas = {};
const problems = [];
for (const [member, area] of Object.entries(members)) {
  const row = (areas[area] ??= { members: 0, called: 0, declared: 0 });
  const declared = patterns.some((pattern) => pattern.test(member));
  row.members += 1;
  row.called += called.has(member);
  row.declared += declared && !called.has(member);
  if (!called.has(member) && !declared) problems.push(`${member} is neither called nor declared`);
}
for (const pattern of patterns) {
  if (!Object.keys(members).some((member) => pattern.test(member) && !called.has(member))) problems.push(`${pattern} declares nothing that is not called`);
}

console.log(`== members of @stackframe/js ${version}`);
const sum = (key) => Object.values(areas).reduce((all, row) => all + row[key], 0);
const line = (name, row) => console.log(`${name.padEnd(32)} ${[row.members, row.called, row.declared].map((it) => `${it}`.padStart(8)).join(" ")}`);
line("type", { members: "members", called: "called", declared: "declared" });
for (const [name, row] of Object.entries(areas).sort(([a], [b]) => a.localeCompare(b))) line(name, row);
line("all", { members: sum("members"), called: sum("called"), declared: sum("declared") });
for (const problem of problems) console.error(problem);
process.exit(problems.length > 0 ? 1 : 0);
