// Sessions of the console: with the keys of the first project, and of users who have signed in.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Session, takeResetCode, takeToken } from "../../../infra/console/web/core/session.js";

const TOKEN = "a".repeat(43);
const [KEPT, OPENED] = ["gatelet.console-token", "gatelet.console-token-opened"];
const LOCAL = { project_id: "p1", super_secret_admin_key: "sak_1" };

function storage(values = {}) {
  const all = new Map(Object.entries(values));
  return {
    all,
    getItem: (name) => all.get(name) ?? null,
    setItem: (name, value) => all.set(name, value),
    removeItem: (name) => all.delete(name),
  };
}

/** A session whose requests are answered by `answer(url, options)`. */
function sessionWith(answer, { local = {}, kept = {} } = {}) {
  const stores = { localStorage: storage(local), sessionStorage: storage(kept) };
  const asked = [];
  const fetch = async (url, options) => {
    asked.push([options.method ?? "GET", url, options.headers]);
    const [status, body] = answer(url, options);
    return new Response(JSON.stringify(body), { status });
  };
  return { session: new Session({ ...stores, fetch }), stores, asked };
}

test("the token of the link is kept, and removed from the URL", () => {
  const kept = storage();
  const replaced = [];
  const history = { replaceState: (_, __, url) => replaced.push(url) };
  takeToken({ hash: `#${TOKEN}`, pathname: "/console", search: "?a=b" }, history, kept);
  assert.deepEqual([[...kept.all], replaced], [[["gatelet.console-token-opened", TOKEN]], ["/console?a=b"]]);
  takeToken({ hash: "#main", pathname: "/console", search: "" }, history, kept);
  assert.deepEqual([kept.all.get("gatelet.console-token-opened"), replaced.length], [TOKEN, 1]);
});

test("the code of a link for a new password is removed from the URL of its page", () => {
  const replaced = [];
  const history = { replaceState: (_, __, url) => replaced.push(url) };
  const take = (pathname, search) => takeResetCode({ pathname, search }, history);
  assert.equal(take("/console/password-reset", "?code=abc"), "abc");
  assert.equal(take("/console/password-reset/", "?a=b&code=abc"), "abc");
  assert.deepEqual(replaced, ["/console/password-reset", "/console/password-reset/"]);
  for (const [path, search] of [["/console/password-reset", ""], ["/console/sign-in", "?code=abc"], ["/console/p1", "?code=abc"]])
    assert.equal(take(path, search), null);
  assert.equal(replaced.length, 2);
});

test("a forgotten password is reset without a session, in the project internal", async () => {
  globalThis.location = { origin: "https://auth.example.com" };
  const sent = [];
  const { session, asked } = sessionWith((url, { body }) => {
    sent.push(JSON.parse(body));
    return [200, { success: true }];
  });
  await session.sendReset("ada@example.com");
  await session.checkReset("c1");
  await session.resetPassword("c1", "a better horse battery");
  delete globalThis.location;
  const headers = { "x-service-access-type": "client", "x-service-project-id": "internal", "content-type": "application/json" };
  assert.deepEqual(
    asked,
    ["send-reset-code", "reset/check-code", "reset"].map((path) => ["POST", `/api/v1/auth/password/${path}`, headers]),
  );
  assert.deepEqual(sent, [
    { email: "ada@example.com", callback_url: "https://auth.example.com/console/password-reset" },
    { code: "c1" },
    { code: "c1", password: "a better horse battery" },
  ]);
});

test("a token replaces another one only after the gateway has accepted it", async () => {
  const [old, foreign] = ["b".repeat(43), "c".repeat(43)];
  const gateway = (_, { headers }) => (headers.authorization === `Bearer ${TOKEN}` ? [200, LOCAL] : [403, {}]);
  const after = async (answer, opened, kept) => {
    const local = { ...(opened && { [OPENED]: opened }), ...(kept && { [KEPT]: kept }) };
    const { session, stores, asked } = sessionWith(answer, { local });
    await session.open();
    return { open: session.isOpen, asked: asked.length, ...Object.fromEntries(stores.localStorage.all) };
  };
  for (const kept of [undefined, old, TOKEN]) assert.deepEqual(await after(gateway, TOKEN, kept), { open: true, asked: 1, [KEPT]: TOKEN });
  // Another site opens the console with a token that it has made up.
  assert.deepEqual(await after(gateway, foreign, TOKEN), { open: true, asked: 2, [KEPT]: TOKEN });
  assert.deepEqual(await after(gateway, foreign), { open: false, asked: 1 });
  const silent = () => {
    throw new TypeError("Failed to fetch");
  };
  assert.deepEqual(await after(silent, TOKEN, old), { open: false, asked: 2, [OPENED]: TOKEN, [KEPT]: old });
});

test("a link that another tab opened meanwhile is not forgotten", async () => {
  const { session, stores } = sessionWith(
    () => {
      stores.localStorage.setItem(OPENED, TOKEN);
      return [403, {}];
    },
    { local: { [OPENED]: "c".repeat(43) } },
  );
  await session.open();
  assert.equal(stores.localStorage.getItem(OPENED), TOKEN);
});

test("the token requests the keys, which are used only for the first project", async () => {
  const { session, asked } = sessionWith(() => [200, LOCAL], { local: { "gatelet.console-token": TOKEN } });
  await session.open();
  assert.deepEqual(asked, [["GET", "/console/session", { authorization: `Bearer ${TOKEN}` }]]);
  assert.ok(session.isOpen);
  assert.equal(session.project("p1").request("GET", "/users").headers["x-service-super-secret-admin-key"], "sak_1");
  const other = session.project("p2").request("GET", "/users").headers;
  assert.ok(!JSON.stringify(other).includes("sak_1"), "the key never goes to another project");
});

test("without a token nothing is requested, and a refused token opens nothing", async () => {
  const nobody = sessionWith(() => assert.fail("a request"));
  await nobody.session.open();
  const refused = sessionWith(() => [403, {}], { local: { "gatelet.console-token": TOKEN } });
  await refused.session.open();
  assert.deepEqual([nobody.session.isOpen, refused.session.isOpen], [false, false]);
});

/** Answers a sign-in, and the request for its user. */
const tokensOf = (email) => (url) =>
  url.endsWith("/users/me") ? [200, { primary_email: email }] : [200, { access_token: "a1", refresh_token: "r1" }];

test("a sign-in is kept for the tab, and its token opens projects", async () => {
  const { session, stores, asked } = sessionWith(tokensOf("ada@example.com"));
  assert.equal(await session.signIn("ada@example.com", "secret"), null);
  assert.equal(session.email, "ada@example.com");
  assert.deepEqual(asked[0].slice(0, 2), ["POST", "/api/v1/auth/password/sign-in"]);
  assert.deepEqual([asked[0][2]["x-service-project-id"], asked[0][2]["x-service-access-type"]], ["internal", "client"]);
  assert.equal(session.project("p2").request("GET", "/users").headers["x-service-admin-access-token"], "a1");
  assert.equal(stores.localStorage.all.size, 0);
  assert.ok(![...stores.sessionStorage.all.values()].join().includes('secret"'), "the password is not kept");
});

test("a second factor completes the sign-in", async () => {
  const { session } = sessionWith((url, { body }) => {
    if (url.endsWith("/users/me")) return tokensOf("ada@example.com")(url);
    if (!url.endsWith("/mfa/sign-in"))
      return [400, { code: "MULTI_FACTOR_AUTHENTICATION_REQUIRED", error: "", details: { attempt_code: "c1" } }];
    assert.deepEqual(JSON.parse(body), { type: "totp", totp: "123456", code: "c1", remember_device: false });
    return [200, { access_token: "a1", refresh_token: "r1" }];
  });
  assert.equal(await session.signIn("ada@example.com", "secret"), "c1");
  assert.equal(session.email, null);
  await session.secondFactor("c1", "123456");
  assert.equal(session.email, "ada@example.com");
});

test("requests that find the token expired share one renewal", async () => {
  const kept = { "gatelet.console-session": JSON.stringify({ email: "ada@example.com", access: "old", refresh: "r1" }) };
  let renewals = 0;
  const { session } = sessionWith(
    (url, { headers }) => {
      if (url.endsWith("/refresh")) {
        renewals += 1;
        return [200, { access_token: "new" }];
      }
      return headers["x-service-admin-access-token"] === "new"
        ? [200, { items: [] }]
        : [401, { code: "ADMIN_ACCESS_TOKEN_EXPIRED", error: "" }];
    },
    { kept },
  );
  await Promise.all([session.project("p2").get("/users"), session.project("p2").get("/teams")]);
  assert.equal(renewals, 1);
});

test("a session is forgotten when it has ended, and when the user signs out", async () => {
  const kept = () => ({ "gatelet.console-session": JSON.stringify({ email: "ada@example.com", access: "old", refresh: "r1" }) });
  const ended = sessionWith(
    (url) =>
      url.endsWith("/refresh")
        ? [401, { code: "REFRESH_TOKEN_NOT_FOUND_OR_EXPIRED", error: "" }]
        : [401, { code: "ADMIN_ACCESS_TOKEN_EXPIRED", error: "" }],
    { kept: kept() },
  );
  await assert.rejects(ended.session.project("p2").get("/users"));
  assert.deepEqual([ended.session.isOpen, ended.stores.sessionStorage.all.size], [false, 0]);
  const leaving = sessionWith(() => [200, { success: true }], { kept: kept() });
  await leaving.session.signOut();
  assert.deepEqual([leaving.session.isOpen, leaving.asked[0].slice(0, 2)], [false, ["DELETE", "/api/v1/auth/sessions/current"]]);
});
