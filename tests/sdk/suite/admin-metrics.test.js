// The figures that a dashboard draws, by the calls and, where there is one, the schema of the SDK.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";

import { version, world } from "../support/world.js";

const w = world();
const INTERNALS = Symbol.for("StackAuth--DO-NOT-USE-OR-YOU-WILL-BE-FIRED--StackAppInternals");

/** What the SDK gets from a path below `/internal`. */
async function internal(path) {
  const answer = await w.admin()[INTERNALS].sendRequest(`/internal/${path}`, { method: "GET" }, "admin");
  assert.equal(answer.status, 200);
  return await answer.json();
}

test("the figures count users who signed up, in the form that the SDK expects", async () => {
  await w.signedUp();
  let metrics = await internal("metrics?include_anonymous=true");
  for (let i = 0; i < 100 && metrics.total_users === 0; i += 1) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    metrics = await internal("metrics?include_anonymous=true");
  }
  assert.equal(metrics.total_users, 1);
  assert.deepEqual(metrics.login_methods, [{ method: "password", count: 1 }]);
  if (version === "2.8.77") return; // It has no schema of the figures.
  const file = `../${version}/node_modules/@stackframe/stack-shared/dist/interface/admin-metrics.js`;
  const { MetricsResponseBodySchema } = createRequire(import.meta.url)(file);
  await MetricsResponseBodySchema.validate(metrics, { strict: true });
});

test("the matches of a sign-up rule are counted", async () => {
  const rule = { enabled: true, displayName: "All", priority: 1, condition: "true", action: { type: "log" } };
  const project = await w.admin().getProject();
  await project.updateConfig({ "auth.signUpRules.all": rule });
  await w.signedUp();
  let stats = await internal("sign-up-rules-stats");
  for (let i = 0; i < 100 && stats.total_triggers === 0; i += 1) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    stats = await internal("sign-up-rules-stats");
  }
  assert.deepEqual(stats.triggers_by_action, { allow: 0, reject: 0, restrict: 0, log: 1 });
  assert.deepEqual(stats.rule_triggers.map((it) => [it.rule_id, it.total_count, it.hourly_counts.length]), [["all", 1, 48]]);
});
