// Comparing, patching and showing values.

import assert from "node:assert/strict";
import { test } from "node:test";

import { heights } from "../../../infra/console/web/components/chart.js";
import { clipped, day, duration, instant, shortened, title, visible } from "../../../infra/console/web/core/format.js";
import { at, changed, conflicts, lines, nested, parsed, printed, same, sampleVariables } from "../../../infra/console/web/core/values.js";
import { isCounted, past } from "../../../infra/console/web/views/audit-log.js";

test("values are compared by their content", () => {
  assert.ok(same({ a: [1, { b: null }], c: "x" }, { c: "x", a: [1, { b: null }] }));
  for (const [a, b] of [
    [{ a: 1 }, { a: 1, b: 2 }],
    [{ a: undefined }, { b: undefined }],
    [[1], { 0: 1 }],
    [null, {}],
    [1, "1"],
    [
      [1, 2],
      [2, 1],
    ],
  ])
    assert.ok(!same(a, b), JSON.stringify([a, b]));
});

test("only what differs is sent, and an absent field equals null", () => {
  assert.deepEqual(changed({ a: 1, b: null, d: { x: 1 } }, { a: 1, b: "new", c: null, d: { x: 1 } }), { b: "new" });
  assert.deepEqual(changed({ a: "x" }, { a: null }), { a: null });
});

test("a conflict is a field of mine that somebody else changed to another value", () => {
  const before = { name: "a", note: "n", size: 1 };
  assert.deepEqual(conflicts(before, { name: "b" }, { name: "c", note: "other", size: 1 }), [
    { name: "name", before: "a", now: "c", mine: "b" },
  ]);
  assert.deepEqual(conflicts(before, { name: "b" }, { name: "b", note: "n", size: 1 }), [], "both made the same change");
  assert.deepEqual(conflicts(before, { size: 2 }, { name: "c", note: "n", size: 1 }), [], "they changed another field");
});

test("paths read values in objects, and build objects", () => {
  assert.equal(at({ config: { mail: { port: 25 } } }, "config.mail.port"), 25);
  assert.equal(at({}, "config.mail.port"), undefined);
  assert.deepEqual(nested({ "config.a": 1, "config.mail.port": 25, name: "x" }), { config: { a: 1, mail: { port: 25 } }, name: "x" });
});

test("texts become lines and JSON, and back", () => {
  assert.deepEqual(lines(" a \n\n b\n"), ["a", "b"]);
  assert.equal(parsed("  "), null);
  assert.deepEqual(parsed(printed({ a: [1] })), { a: [1] });
  assert.equal(printed(null), "");
  assert.throws(() => parsed("{a}"));
});

test("the variables of a template get values to preview it with", () => {
  assert.deepEqual(sampleVariables("{{ variables.link }} {{ variables.otp }} {{ variables.team_name }} {{ user.name }}"), {
    link: "https://example.com/…",
    otp: "ABC123",
    team_name: "team name",
  });
  const list =
    '{% for one in variables.changes %}{% if one.kind == "a" %}{{ one.detail }}{% elif one.kind == "b" %}{% endif %}{% endfor %}';
  assert.deepEqual(sampleVariables(list), { changes: [{ kind: "a", detail: "detail" }] });
});

test("invisible characters are shown as their code points", () => {
  assert.equal(visible("a\u202Eb\u0000c\u200Bd\ne"), "a⟨U+202E⟩b⟨U+0000⟩c⟨U+200B⟩d\ne");
  assert.equal(visible("مرحبا <b> 👩🚀"), "مرحبا <b> 👩🚀");
});

test("joiners are shown only where no spelling requires them", () => {
  for (const name of ["👩\u200D🚀", "🏳\uFE0F\u200D🌈", "👨🏽\u200D🚀", "می\u200Cخواهم", "क्\u200Dष"]) assert.equal(visible(name), name);
  assert.equal(visible("a\u200Db\u200Cc"), "a⟨U+200D⟩b⟨U+200C⟩c");
  assert.equal(visible("👩\u200D x\u200D🚀"), "👩⟨U+200D⟩ x⟨U+200D⟩🚀");
});

test("long texts and ids are shortened by characters", () => {
  assert.equal(clipped("👩👩👩", 2), "👩👩…");
  assert.equal(clipped("abc", 3), "abc");
  assert.equal(shortened("12718bb3-649e-4015-b729-6049077f93e2"), "12718bb3…93e2");
  assert.equal(shortened("short"), "short");
});

test("durations and names are written as words", () => {
  assert.deepEqual([31_536_000, 90_000, 3661, 60, 0].map(duration), ["365 days", "1 day 1 hour", "1 hour 1 minute", "1 minute", ""]);
  assert.equal(title("when-suspicious"), "When suspicious");
  assert.equal(title("api-key"), "API key");
  assert.equal(day("2026-11-05"), "Nov 5");
});

test("an operation is named by what it did", () => {
  for (const [summary, done] of [
    ["Creates an API key of a user and returns it once", "Created an API key of a user"],
    ["Updates or revokes a set of API keys", "Updated or revoked a set of API keys"],
    ["Edits, pauses, resumes or cancels an email", "Edited, paused, resumed or cancelled an email"],
    ["Sets the first password of the signed-in user", "Set the first password of the signed-in user"],
    ["Undoes a change", "Undid a change"],
    ["Verifies an email address", "Verified an email address"],
    ["Auth session", "Auth session"],
  ])
    assert.equal(past(summary), done);
});

test("a small number has a visible bar, and zero has none", () => {
  assert.deepEqual(heights([0, 1, 1000], 64), [0, 2, 64]);
  assert.deepEqual(heights([0, 0], 64), [0, 0]);
});

test("what is counted per minute has no seconds", () => {
  const at = "2026-01-01T12:05:00.000Z";
  assert.equal(instant(at, isCounted({ events: ["sign-in-failed"] })), "2026-01-01T12:05Z");
  assert.equal(instant(at, isCounted({ events: ["sign-up-rejected"] })), "2026-01-01T12:05Z");
  assert.equal(instant(at, isCounted({ events: ["proof-failed"] })), "2026-01-01T12:05Z");
  assert.equal(instant(at, isCounted({ events: ["sign-in"] })), "2026-01-01T12:05:00Z");
  assert.equal(instant(Date.parse(at) + 7_890, isCounted({ events: [] })), "2026-01-01T12:05:07Z");
});
