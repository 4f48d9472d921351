// node members/check.js FOLDER VERSION: checks that the suite calls every member of the SDK with
// success, except as declared.js says, and prints a table with a row for each feature that the
// service does not have, and for each type that declares other members.

import { readFileSync } from "node:fs";
import { ELSEWHERE, NOT_THERE, REFUSED } from "./declared.js";

const [folder, version] = process.argv.slice(2);
const { members } = JSON.parse(readFileSync(`${folder}/${version}.json`, "utf8"));
const outcomes = new Set(readFileSync(`${folder}/${version}.called`, "utf8").split("\n"));
const some = (entries, member) => entries.find(({ members }) => members.some((pattern) => pattern.test(member)));

const areas = {};
const problems = [];
for (const [member, type] of Object.entries(members)) {
  const [worked, failed] = ["worked", "failed"].map((outcome) => outcomes.has(`${member} ${outcome}`));
  const [absent, elsewhere] = [some(NOT_THERE, member), some(ELSEWHERE, member)];
  const row = (areas[absent?.area ?? type] ??= { members: 0, work: 0, refused: 0, elsewhere: 0 });
  row.members += 1;
  row.work += worked;
  row.refused += !worked && failed;
  row.elsewhere += !worked && !failed && Boolean(elsewhere);
  const isRefused = absent || some(REFUSED, member);
  if (!worked && failed && !isRefused) problems.push(`${member} is called, but never works`);
  if (!worked && !failed && !elsewhere) problems.push(`${member} is neither called nor declared`);
}
const holds = (entries, pattern, isTrue) => {
  if (!Object.keys(members).some((member) => pattern.test(member) && isTrue(member))) problems.push(`${pattern} of ${entries} matches no member that is as declared`);
};
for (const { members } of NOT_THERE) for (const pattern of members) holds("NOT_THERE", pattern, () => true);
for (const { members } of REFUSED) for (const pattern of members) holds("REFUSED", pattern, (it) => outcomes.has(`${it} failed`) && !outcomes.has(`${it} worked`));
for (const { members } of ELSEWHERE) for (const pattern of members) holds("ELSEWHERE", pattern, (it) => !outcomes.has(`${it} failed`) && !outcomes.has(`${it} worked`));

console.log(`== members of @stackframe/js ${version}`);
const COLUMNS = ["members", "work", "refused", "elsewhere"];
const line = (name, cells) => console.log(`${name.padEnd(32)} ${cells.map((it) => `${it}`.padStart(9)).join(" ")}`);
line("area", COLUMNS);
for (const [name, row] of Object.entries(areas).sort(([a], [b]) => a.localeCompare(b))) line(name, COLUMNS.map((column) => row[column]));
line("all", COLUMNS.map((column) => Object.values(areas).reduce((all, row) => all + row[column], 0)));
for (const problem of problems) console.error(problem);
process.exit(problems.length > 0 ? 1 : 0);
