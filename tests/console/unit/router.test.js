// Finds the page that a path opens.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

import { match, ownPage, resolve, url } from "../../../infra/console/web/core/router.js";
import { routes } from "../../../infra/console/web/routes.js";

test("a pattern takes the parts of a path", () => {
  assert.deepEqual(match("/:project/users/:user", "/p/users/a%2Fb"), { project: "p", user: "a/b" });
  for (const path of ["/p/users", "/p/teams/u", "/p/users/", "/p/users/u/v", "/p/users/%E0%A4%A"])
    assert.equal(match("/:project/users/:user", path), null, path);
});

test("fixed pages come before projects", () => {
  const opened = (path) => {
    const found = resolve(routes, path);
    return found && [found.route.name, found.parameters];
  };
  assert.deepEqual(opened("/console"), ["home", {}]);
  assert.deepEqual(opened("/console/"), ["home", {}]);
  assert.deepEqual(opened("/console/home"), ["home", {}]);
  assert.deepEqual(opened("/console/sign-in"), ["sign-in", {}]);
  assert.deepEqual(opened("/console/forgot-password"), ["forgot", {}]);
  assert.deepEqual(opened("/console/password-reset/"), ["reset", {}]);
  assert.deepEqual(opened("/console/cli-auth-confirm"), ["confirm", {}]);
  assert.deepEqual(opened("/console/projects"), ["projects", {}]);
  assert.deepEqual(opened("/console/p1"), ["overview", { project: "p1" }]);
  assert.deepEqual(opened("/console/p1/settings/emails"), ["settings", { project: "p1", area: "emails" }]);
  assert.equal(opened("/console/p1/nothing/at/all"), null);
});

test("only the pages for signing in need no session", () => {
  const open = routes.filter(({ isPublic }) => isPublic).map(({ path }) => path);
  assert.deepEqual(open, ["/sign-in", "/forgot-password", "/password-reset"]);
});

test("every page has its module", async () => {
  const source = await readFile(new URL("../../../infra/console/web/routes.js", import.meta.url), "utf8");
  const modules = [...source.matchAll(/import\("\.\/(.+?)"\)/g)].map(([, name]) => name);
  assert.equal(modules.length, routes.length);
  for (const name of modules)
    assert.match(
      await readFile(new URL(`../../../infra/console/web/${name}`, import.meta.url), "utf8"),
      /export async function view/,
      name,
    );
});

test("a URL has only the parameters that have a value", () => {
  assert.equal(url("/p/users", { q: "a&b", order: "" }), "/console/p/users?q=a%26b");
  assert.equal(url("/p"), "/console/p");
});

test("a sign-in leads back only to pages of the console", () => {
  globalThis.location = { origin: "https://auth.example.com" };
  assert.equal(ownPage("/console/p1/users?q=ada"), "/console/p1/users?q=ada");
  for (const foreign of [null, "", "/", "/consoles", "/inbox", "//evil.example/console/x", "https://evil.example/console/x", "javascript:alert(1)//console/"])
    assert.equal(ownPage(foreign), null, foreign);
  delete globalThis.location;
});
