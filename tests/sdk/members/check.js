// node members/check.js FOLDER VERSION: checks that the suite successfully uses every member of the
// SDK, except as declared.js says. Prints a table with a row for each feature that the service
// lacks, and a row for each type with its remaining members.

import { readFileSync } from "node:fs";
import { COUNTS, ELSEWHERE, NOT_THERE, REFUSED, UNDECLARED } from "./declared.js";

const [folder, version] = process.argv.slice(2);
const { members, bases } = JSON.parse(readFileSync(`${folder}/${version}.json`, "utf8"));
const outcomes = new Map(Object.keys(members).map((member) => [member, new Set()]));
for (const line of readFileSync(`${folder}/${version}.called`, "utf8").split("\n").filter(Boolean)) {
  const at = line.indexOf(" ");
  // Members that exist only in some cases of a union are checked but not counted.
  const outcome = outcomes.get(line.slice(0, at)) ?? outcomes.set(line.slice(0, at), new Set()).get(line.slice(0, at));
  outcome.add(line.slice(at + 1));
}
const some = (entries, member) => entries.find(({ members }) => members.some((pattern) => pattern.test(member)));

const areas = {};
const problems = [];
for (const [member, { type, kind }] of Object.entries(members)) {
  const [worked, failed] = ["worked", "failed"].map((outcome) => outcomes.get(member).has(outcome));
  const [absent, elsewhere] = [some(NOT_THERE, member), some(ELSEWHERE, member)];
  const row = (areas[absent?.area ?? type.split(".")[0]] ??= { methods: 0, work: 0, refused: 0, elsewhere: 0, properties: 0, seen: 0 });
  if (kind === "property") {
    row.properties += 1;
    row.seen += worked;
    if (!worked && !absent && !elsewhere) problems.push(`${member} is not in any value`);
    continue;
  }
  row.methods += 1;
  row.work += worked;
  row.refused += !worked && failed;
  row.elsewhere += !worked && !failed && Boolean(elsewhere);
  const isRefused = absent || some(REFUSED, member);
  if (!worked && failed && !isRefused) problems.push(`${member} is called, but never works`);
  if (!worked && !failed && !elsewhere) problems.push(`${member} is neither called nor declared`);
}
for (const [member, seen] of outcomes) {
  for (const outcome of seen) {
    const isDeclared = UNDECLARED.some((one) => one.member === member && outcome === `wrong ${one.kind}`);
    if (outcome.startsWith("wrong ") && !isDeclared) problems.push(`${member} has a value that its type does not allow: ${outcome.slice(6)}`);
  }
}
for (const { member, kind } of UNDECLARED) if (!outcomes.get(member)?.has(`wrong ${kind}`)) problems.push(`${member} of UNDECLARED never is a ${kind}`);

/** Each pattern of a list must match members, all as declared. */
function holds(list, entries, isAsDeclared) {
  for (const pattern of entries.flatMap(({ members }) => members)) {
    const matching = Object.keys(members).filter((member) => pattern.test(member));
    if (matching.length === 0) problems.push(`${pattern} of ${list} matches no member`);
    for (const member of matching) if (!isAsDeclared(outcomes.get(member))) problems.push(`${member} is not as ${pattern} of ${list} declares`);
  }
}
holds("NOT_THERE", NOT_THERE, () => true);
holds("REFUSED", REFUSED, (seen) => seen.has("failed") && !seen.has("worked"));
holds("ELSEWHERE", ELSEWHERE, (seen) => !seen.has("failed") && !seen.has("worked"));
for (const [base, types] of Object.entries(bases)) if (types.length === 0) problems.push(`no value has the type ${base}, or one that extends it`);

console.log(`== members of @stackframe/js ${version}`);
const COLUMNS = ["methods", "work", "refused", "elsewhere", "properties", "seen"];
const line = (name, cells) => console.log(`${name.padEnd(34)} ${cells.map((it) => `${it}`.padStart(10)).join(" ")}`);
const all = Object.fromEntries(COLUMNS.map((column) => [column, Object.values(areas).reduce((sum, row) => sum + row[column], 0)]));
line("area", COLUMNS);
for (const [name, row] of Object.entries(areas).sort(([a], [b]) => a.localeCompare(b))) line(name, COLUMNS.map((column) => row[column]));
line("all", COLUMNS.map((column) => all[column]));
for (const kind of ["methods", "properties"]) {
  if (all[kind] !== COUNTS[version][kind]) problems.push(`${all[kind]} ${kind}, but declared.js counts ${COUNTS[version][kind]}`);
}
for (const problem of problems) console.error(problem);
process.exit(problems.length > 0 ? 1 : 0);
