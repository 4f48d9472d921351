// The SDK's methods that lead to the pages of an app: `redirectToSignIn` and the others.

import assert from "node:assert/strict";
import { test } from "node:test";

import { schemaOf } from "../members/schema.js";
import { newAddress, PASSWORD, version, world } from "../support/world.js";
import { stage } from "./stage.js";

const w = world();
/** The methods in the type declarations, each with its page's name. */
const METHODS = Object.keys(schemaOf(version).members)
  .map((member) => member.match(/^StackClientApp\.(redirectTo(\w+))$/))
  .filter(Boolean)
  .map(([, method, page]) => [method, page === "OAuthCallback" ? "oauthCallback" : page[0].toLowerCase() + page.slice(1)]);
/** The pages that finally lead back to the user's origin. */
const RETURNS = new Set(["signIn", "signUp", "onboarding", ...(version === "2.8.77" ? [] : ["signOut"])]);
const FROM = "/from?tab=2";
const here = stage(w, {
  folder: new URL("redirects/", import.meta.url),
  prepare: () => ({ pages: METHODS.map(([, page]) => page) }),
});

/** A fresh browser with the app open. */
async function visitor(t) {
  const context = await here.browser.newContext();
  t.after(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const errors = [];
  page.on("pageerror", (error) => errors.push(`${error}`));
  const open = async (path) => {
    await page.goto(`${here.site.url}${path}`);
    await page.waitForSelector("body[data-ready]");
  };
  /** Calls an app's method that leaves the page, and waits for the new URL's page. */
  const go = async (method, path, options) => {
    // The browser leaves the page before the call returns.
    await page.evaluate(([method, options]) => void globalThis.app[method](options), [method, options]);
    await page.waitForURL((url) => url.pathname === path);
    await page.waitForSelector("body[data-ready]");
    return new URL(page.url());
  };
  return { page, errors, open, go };
}

test("each method leads to its page, and says where the user came from", { timeout: 900_000 }, async (t) => {
  const { errors, open, go } = await visitor(t);
  assert.ok(METHODS.length >= 16, `${METHODS}`);
  for (const [method, name] of METHODS) {
    await open(FROM);
    const { searchParams } = await go(method, `/at/${name}`);
    assert.equal(searchParams.get("after_auth_return_to"), RETURNS.has(name) ? FROM : null, method);
  }
  assert.deepEqual(errors, []);
});

test("signing in and up lead back to where the user came from", async (t) => {
  const { page, errors, open, go } = await visitor(t);
  for (const [to, back] of [["SignIn", "redirectToAfterSignIn"], ["SignUp", "redirectToAfterSignUp"]]) {
    await open(FROM);
    await go(`redirectTo${to}`, `/at/s${to.slice(1)}`);
    assert.equal((await go(back, "/from")).search, "?tab=2");
  }
  // With `replace`, the page that was left is not in the history.
  await open("/first");
  await go("redirectToAccountSettings", "/at/accountSettings");
  await go("redirectToHome", "/at/home", { replace: true });
  await page.goBack();
  assert.equal(new URL(page.url()).pathname, "/first");
  assert.deepEqual(errors, []);
});

test("a foreign address to return to is not followed", async (t) => {
  const { page, open } = await visitor(t);
  await open("/");
  await page.evaluate(([email, password]) => globalThis.app.signUpWithCredential({ email, password, noVerificationCallback: true, noRedirect: true }), [newAddress(), PASSWORD]);
  await open(`/at/signIn?after_auth_return_to=${encodeURIComponent("https://evil.example/")}`);
  const refused = await page.evaluate(() => globalThis.app.redirectToAfterSignIn().then(() => "left", (error) => error.message));
  // The older version of the SDK rejects the foreign URL itself. The newer version asks the service
  // to transfer the session to the foreign domain, which the service rejects.
  assert.match(refused, version === "2.8.77" ? /not trusted/ : /^Redirect URL not whitelisted/);
  assert.equal(new URL(page.url()).origin, here.site.url);
});
