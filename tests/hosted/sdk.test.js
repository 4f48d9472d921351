// The published SDK in its hosted mode, in an app on another origin that has no pages for users.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { startSite } from "../sdk/browser/site.js";
import { linkOf, typedCodeOf } from "../sdk/support/inbox.js";
import { filled } from "./support/visitor.js";
import { PASSWORD, newAddress, world } from "./support/world.js";

const w = world({ config: { magic_link_enabled: true } });
const FROM = "/from?tab=2";
let [app, second] = [];

before(async () => {
  await w.started;
  const { url: baseUrl, projectId, publishableClientKey } = w.gateway;
  const template = `http://{projectId}.localhost:${w.port}/{hostedPath}`;
  const start = () => startSite("2.8.108", { baseUrl, projectId, publishableClientKey, template }, new URL("app/", import.meta.url));
  [app, second] = await Promise.all([start(), start()]);
  // Cookies belong to a host, rather than to a port.
  second.url = Object.assign(new URL(second.url), { hostname: "127.0.0.1" }).origin;
  await w.configure({ allow_localhost: false, domains: [{ domain: app.url }, { domain: second.url }] });
});
after(() => Promise.all([app?.stop(), second?.stop()]));

/** A visitor of an app. */
async function visitor(t, site = app) {
  const it = await w.visitor(t);
  /** Calls a method of the app that leads to a hosted page. */
  const goes = async (method, name) => {
    await it.page.evaluate((method) => void globalThis.app[method](), method);
    await it.page.waitForURL((url) => url.origin === w.origin && url.pathname === `/handler/${name}`);
  };
  const of = (site) => ({
    /** Opens the app at this path. */
    opens: async (path = FROM) => {
      await it.page.goto(`${site.url}${path}`);
      await it.page.waitForSelector("body[data-ready]");
    },
    /** Waits until the app is back where it was, with this user. */
    isBack: async (who, path = FROM) => {
      await it.page.waitForURL((url) => url.href === `${site.url}${path}`);
      await it.page.waitForSelector("body[data-ready]");
      assert.equal(await it.page.textContent("#who"), who);
    },
    user: () => it.page.evaluate(async () => (await globalThis.app.getUser())?.id ?? null),
  });
  return {
    ...it,
    ...of(site),
    of,
    goes,
    /** Goes from the app to the page, and enters address and password there. */
    goesToSignIn: async (email) => {
      await goes("redirectToSignIn", "sign-in");
      await it.types(it.texts.field.email, email);
      await it.types(it.texts.field.password, PASSWORD);
      await it.presses(it.texts.sign_in.submit);
    },
    /** Asserts that no URL contained a token of the session. */
    leaksNothing: async () => {
      const values = (await it.context.cookies()).map(({ value }) => decodeURIComponent(value));
      const tokens = values.flatMap((value) => value.match(/[\w-]{40,}(\.[\w-]+)*/g) ?? []);
      assert.ok(tokens.length >= 2, "tokens in cookies");
      const session = (await it.cookie("session"))?.value;
      for (const url of it.visited) {
        assert.ok(!/refresh_token=|access_token=/.test(url) && !/eyJ[\w-]+\.[\w-]+\./.test(decodeURIComponent(url)), url);
        assert.ok(!session || !url.includes(session), `the session's token in ${url}`);
      }
    },
  };
}

/** The browser's refresh tokens: of the pages, and of apps. */
async function refreshTokens({ context }) {
  const cookies = await context.cookies();
  const own = cookies.filter(({ name }) => name.startsWith("gatelet-session-")).map(({ value }) => value);
  const ofApps = cookies.filter(({ name }) => name.includes(`-refresh-${w.gateway.projectId}`)).map(({ value }) => JSON.parse(decodeURIComponent(value)).refresh_token);
  return [...own, ...ofApps];
}

test("redirectToSignIn leads to the page, and signing in leads back", async (t) => {
  const it = await visitor(t);
  const { email, id } = await w.person();
  await it.opens();
  assert.equal(await it.page.textContent("#who"), "nobody");
  await it.goes("redirectToSignIn", "sign-in");
  await it.types(it.texts.field.email, email);
  await it.types(it.texts.field.password, "another password");
  await it.presses(it.texts.sign_in.submit);
  await it.reads(it.texts.errors.EMAIL_PASSWORD_MISMATCH);
  await it.types(it.texts.field.password, PASSWORD);
  await it.presses(it.texts.sign_in.submit);
  await it.isBack(email);
  assert.equal(await it.user(), id);
  await it.page.reload();
  await it.isBack(email);

  const tokens = await refreshTokens(it);
  assert.equal(tokens.length, 2);
  assert.equal(new Set(tokens).size, 1, "one session");
  assert.ok(it.visited.every((url) => tokens.every((token) => !url.includes(token))), "no URL contains the token");
  await it.leaksNothing();
  assert.equal((await w.sessionsOf(id)).length, 1);
  it.check();
});

test("redirectToSignUp leads to the page, and signing up leads back", async (t) => {
  const it = await visitor(t);
  const email = newAddress();
  await it.opens();
  await it.goes("redirectToSignUp", "sign-up");
  await it.types(it.texts.field.email, email);
  await it.types(it.texts.field.password, PASSWORD);
  await it.presses(it.texts.sign_up.submit);
  await it.isBack(email);
  // The link in the email leads to the page, and from there to the app.
  await it.page.goto(linkOf(await w.inbox.next(email)).url.href);
  await it.presses(it.texts.verify.submit);
  await it.sees(it.texts.verify.done_title);
  await it.leaksNothing();
  it.check();
});

test("a code by email leads back, too, and so does its link in the same browser", async (t) => {
  const it = await visitor(t);
  const { email, id } = await w.person();
  for (const isLink of [false, true]) {
    await it.opens();
    await it.goes("redirectToSignIn", "sign-in");
    await it.types(it.texts.field.email, email);
    await it.presses(it.texts.sign_in.send_code);
    await it.sees(it.texts.code.heading);
    const mail = await w.inbox.next(email);
    if (isLink) {
      await it.page.goto(linkOf(mail).url.href);
      await it.presses(it.texts.magic.submit);
    } else {
      await it.types(it.texts.code.label, typedCodeOf(mail));
      await it.presses(it.texts.code.submit);
    }
    await it.isBack(email);
    assert.equal(await it.user(), id);
    await it.context.clearCookies();
  }
  it.check();
});

test("a second factor on the way does not lose the way back", async (t) => {
  const it = await visitor(t);
  const person = await w.person();
  const { codes } = await w.addApp(person);
  await it.opens();
  await it.goesToSignIn(person.email);
  await it.page.getByText(it.texts.mfa.recovery, { exact: true }).click();
  await it.types(it.texts.mfa.recovery_code, codes[0]);
  await it.presses(it.texts.mfa.submit_recovery);
  await it.isBack(person.email);
  it.check();
});

test("a second app goes on as the same user with one press, and shares the session", async (t) => {
  const it = await visitor(t);
  const { email, id } = await w.person();
  await it.opens();
  await it.goesToSignIn(email);
  await it.isBack(email);

  const other = it.of(second);
  await other.opens();
  assert.equal(await it.page.textContent("#who"), "nobody");
  await it.goes("redirectToSignIn", "sign-in");
  await it.presses(filled(it.texts.sign_in.continue_as, { name: email }));
  await other.isBack(email);
  assert.equal(await other.user(), id);
  const tokens = await refreshTokens(it);
  assert.deepEqual([tokens.length, new Set(tokens).size], [3, 1], "one session");
  await it.leaksNothing();
  it.check();
});

test("redirectToSignOut asks, ends the session everywhere, and leads back", async (t) => {
  const it = await visitor(t);
  const { email, id } = await w.person();
  await it.opens();
  await it.goesToSignIn(email);
  await it.isBack(email);
  await it.goes("redirectToSignOut", "sign-out");
  await it.sees(it.texts.sign_out.title);
  assert.equal((await w.sessionsOf(id)).length, 1, "opening the page ends nothing");
  await it.presses(it.texts.sign_out.submit);
  await it.isBack("nobody");
  assert.deepEqual(await w.sessionsOf(id), []);
  await it.isNobody();
  it.check();
});

test("an app that the project does not trust gets nobody", async (t) => {
  const it = await visitor(t);
  const { email } = await w.person();
  await w.configure({ domains: [{ domain: second.url }] });
  t.after(() => w.configure({ domains: [{ domain: app.url }, { domain: second.url }] }));
  await it.opens();
  await it.goes("redirectToSignIn", "sign-in");
  await it.reads(filled(it.texts.common.untrusted, { project: "Development" }));
  await it.types(it.texts.field.email, email);
  await it.types(it.texts.field.password, PASSWORD);
  await it.presses(it.texts.sign_in.submit);
  await it.hasSignedIn();
  assert.ok(it.visited.every((url) => !url.startsWith(app.url) || !url.includes("code=")), "no code for the app");
  await it.opens();
  assert.equal(await it.page.textContent("#who"), "nobody");
});

/** Signs in in the app itself, so the pages do not know the session yet. */
async function signedInAtTheApp(it) {
  const { email, id } = await w.person();
  await it.opens();
  await it.page.evaluate(([email, password]) => globalThis.app.signInWithCredential({ email, password, noRedirect: true }), [email, PASSWORD]);
  await it.opens();
  await it.isBack(email);
  return { email, id };
}

test("an app that signed in by itself hands its session to the pages", async (t) => {
  const it = await visitor(t);
  const { email, id } = await signedInAtTheApp(it);
  // The pages redirect to the app, which hands over its session.
  await it.page.evaluate(() => void globalThis.app.redirectToSignIn());
  await it.page.waitForURL((url) => url.origin === w.origin && url.pathname === "/handler/sign-in" && !url.search.includes("stack_nested_cross_domain_auth"));
  await it.presses(filled(it.texts.sign_in.continue_as, { name: email }));
  await it.isBack(email);
  const tokens = await refreshTokens(it);
  assert.deepEqual([tokens.length, new Set(tokens).size], [2, 1], "one session");
  assert.equal((await w.sessionsOf(id)).length, 1);
  await it.leaksNothing();
  it.check();
});

test("a link cannot sign the visitor in as somebody else, or out of the pages", async (t) => {
  const it = await visitor(t);
  const { email } = await w.person();
  const stranger = await w.person();
  await w.signIn(stranger.email);
  const [session] = await w.sessionsOf(stranger.id);
  await it.opens();
  await it.goesToSignIn(email);
  await it.isBack(email);
  // The app is asked for a session that does not belong to it.
  await it.open("sign-in", { stack_nested_cross_domain_auth_refresh_token_id: session.id, stack_nested_cross_domain_auth_callback_url: `${app.url}${FROM}` });
  await it.page.waitForLoadState("load");
  await it.is(email);
  await it.opens();
  await it.isBack(email);
});

test("redirectToAccountSettings shows the account of the app's session", async (t) => {
  const it = await visitor(t);
  const { email, id } = await signedInAtTheApp(it);
  await it.page.evaluate(() => void globalThis.app.redirectToAccountSettings());
  await it.page.waitForURL((url) => url.origin === w.origin && url.pathname === "/handler/account-settings" && !url.search.includes("stack_nested_cross_domain_auth"));
  await it.page.getByText(email).first().waitFor();
  const tokens = await refreshTokens(it);
  assert.deepEqual([tokens.length, new Set(tokens).size], [2, 1], "one session");
  assert.equal((await w.sessionsOf(id)).length, 1);
  await it.leaksNothing();
  it.check();
});
