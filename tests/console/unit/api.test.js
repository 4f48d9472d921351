// Requests to the API, failed requests, lists, and curl commands.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Api, ApiError, nextRows, path, request, toCurl, UnknownUser, userId } from "../../../infra/console/web/core/api.js";
import { texts } from "../../../infra/console/web/texts.js";

const CREDENTIALS = { projectId: "p1", key: "sak_secret" };

/** An API that gives these responses in turn, and records the requests. */
function answering(...responses) {
  const asked = [];
  const fetch = async (url, options) => {
    asked.push({ url, ...options });
    const [status, body, headers] = responses[Math.min(asked.length, responses.length) - 1];
    return new Response(typeof body === "string" ? body : JSON.stringify(body), { status, headers });
  };
  return { asked, fetch };
}

test("a request has the access level, the project and the key", () => {
  const made = request(CREDENTIALS, "GET", "/users", { query: { q: "a b", empty: "", none: null, off: false } });
  assert.deepEqual(made, {
    method: "GET",
    url: "/api/v1/users?q=a+b&off=false",
    body: undefined,
    headers: { "x-service-access-type": "admin", "x-service-project-id": "p1", "x-service-super-secret-admin-key": "sak_secret" },
  });
  const session = request({ projectId: "p2", adminToken: "t" }, "PATCH", "/x", { body: { a: 1 }, ifMatch: '"1"' });
  assert.deepEqual(session.headers, {
    "x-service-access-type": "admin",
    "x-service-project-id": "p2",
    "x-service-admin-access-token": "t",
    "if-match": '"1"',
    "content-type": "application/json",
  });
});

test("a change names the version that was read, and is tried again if it is stale", async () => {
  const at = (version, list) => [200, { list }, { etag: `"${version}"` }];
  const stale = [412, { code: "PRECONDITION_FAILED", error: "", details: {} }];
  const { asked, fetch } = answering(at(1, ["a"]), stale, at(2, ["a", "b"]), at(3, []));
  const resource = new Api(() => CREDENTIALS, { fetch }).resource("/x");
  await resource.replace(({ list }) => ({ list: [...list, "mine"] }));
  const changes = asked.filter(({ method }) => method === "PATCH");
  assert.deepEqual(
    changes.map(({ headers, body }) => [headers["if-match"], body]),
    [
      ['"1"', '{"list":["a","mine"]}'],
      ['"2"', '{"list":["a","b","mine"]}'],
    ],
  );
  const refusing = answering(at(1, []), stale, at(2, []), stale, at(3, []), stale);
  const refused = new Api(() => CREDENTIALS, refusing).resource("/x").replace((body) => body);
  await assert.rejects(refused, { code: "PRECONDITION_FAILED" });
  assert.equal(refusing.asked.length, 6, "three times");
});

test("an id cannot leave its place in a path", () => {
  assert.equal(path`/users/${"../teams?x=1"}/y`, "/users/..%2Fteams%3Fx%3D1/y");
});

test("a curl command names variables instead of keys, and masks passwords", () => {
  const made = request(CREDENTIALS, "POST", "/users", {
    body: { display_name: "O'Neil", password: "hunter2", refresh_token: "r3new", code: "c0de", nested: { client_secret: "s" } },
  });
  const command = toCurl(made, "http://localhost:8787");
  assert.match(command, /^curl -X POST 'http:\/\/localhost:8787\/api\/v1\/users'/);
  assert.ok(command.includes(`"x-service-super-secret-admin-key: $GATELET_SUPER_SECRET_ADMIN_KEY"`), command);
  assert.ok(command.includes(`O'\\''Neil`), command);
  assert.doesNotMatch(command, /sak_secret|hunter2|r3new|c0de|"s"/);
});

test("a failure has the API's message, and the problems of single fields", async () => {
  const error = "the request POST /api/v1/users does not match its schema: …";
  const problems = [
    { path: "body.primary_email", problem: "must be an email address" },
    { path: "body.primary_email", problem: "is a later problem of the same field" },
    { path: "body.config.domains[0].domain", problem: "is required" },
    { path: "query.limit", problem: "is not a field of the body" },
  ];
  const { fetch } = answering([400, { code: "SCHEMA_ERROR", error, hint: "Correct them.", details: { message: error, problems } }]);
  const failed = await new Api(() => CREDENTIALS, { fetch }).post("/users").catch((one) => one);
  assert.ok(failed instanceof ApiError);
  assert.deepEqual(
    [failed.status, failed.code, failed.message, failed.hint, failed.documentation],
    [400, "SCHEMA_ERROR", error, "Correct them.", "/docs/errors#SCHEMA_ERROR"],
  );
  assert.deepEqual(failed.fields, { primary_email: "must be an email address", "config.domains[0].domain": "is required" });
  const other = answering([404, { code: "USER_NOT_FOUND", error: "the user does not exist" }]);
  assert.deepEqual((await new Api(() => CREDENTIALS, other).get("/users/1").catch((one) => one)).fields, {});
});

test("an answer that is not JSON, and no answer at all, are failures", async () => {
  const html = answering([502, "<h1>Bad gateway</h1>"]);
  const failed = await new Api(() => CREDENTIALS, { fetch: html.fetch }).get("/users").catch((one) => one);
  assert.deepEqual([failed.status, failed.message], [502, "<h1>Bad gateway</h1>"]);
  const broken = async () => {
    throw new TypeError("fetch failed");
  };
  const unreachable = await new Api(() => CREDENTIALS, { fetch: broken }).get("/users").catch((one) => one);
  assert.equal(unreachable.status, 0);
});

test("an expired token is renewed once, and the request repeated", async () => {
  const expired = [401, { code: "ADMIN_ACCESS_TOKEN_EXPIRED", error: "expired" }];
  const once = answering(expired, [200, { ok: true }]);
  let token = "old";
  const renew = async () => {
    token = "new";
    return true;
  };
  const api = new Api(() => ({ projectId: "p", adminToken: token }), { fetch: once.fetch, renew });
  assert.deepEqual(await api.get("/users"), { ok: true });
  assert.deepEqual(
    once.asked.map(({ headers }) => headers["x-service-admin-access-token"]),
    ["old", "new"],
  );
  const always = answering(expired);
  await assert.rejects(new Api(() => CREDENTIALS, { fetch: always.fetch, renew: async () => true }).get("/users"), {
    code: "ADMIN_ACCESS_TOKEN_EXPIRED",
  });
  assert.equal(always.asked.length, 2);
  // Other errors do not cause the token to be renewed.
  const wrong = answering([401, { code: "INVALID_SUPER_SECRET_ADMIN_KEY", error: "wrong" }]);
  await assert.rejects(new Api(() => CREDENTIALS, { fetch: wrong.fetch, renew: () => assert.fail() }).get("/users"));
});

test("the empty pages of a search are skipped, up to a limit", async () => {
  const page = (items, cursor) => [200, { items, pagination: { next_cursor: cursor } }];
  const { asked, fetch } = answering(page([], "1"), page([], "2"), page([{ id: "x" }], "3"));
  const api = new Api(() => CREDENTIALS, { fetch });
  assert.deepEqual(await nextRows(api, "/users", { query: "x" }), { rows: [{ id: "x" }], cursor: "3" });
  assert.deepEqual(
    asked.map(({ url }) => new URL(url, "http://x").searchParams.get("cursor")),
    [null, "1", "2"],
  );
  const endless = answering(page([], "again"));
  const found = await nextRows(new Api(() => CREDENTIALS, { fetch: endless.fetch }), "/users", {}, undefined, { max: 3 });
  assert.deepEqual([found, endless.asked.length], [{ rows: [], cursor: "again" }, 3]);
});

/** What a search for the address finds among these users, with one user per page of the list. */
async function found(address, ...users) {
  const pages = users.map((user, index) => [200, { items: [user], pagination: { next_cursor: users[index + 1] ? `${index}` : null } }]);
  const { asked, fetch } = answering(...(pages.length ? pages : [[200, { items: [], pagination: {} }]]));
  const result = await userId(new Api(() => CREDENTIALS, { fetch }), address).catch((error) => error);
  assert.equal(asked.length, Math.max(pages.length, 1), "the whole list is read");
  assert.ok(asked.every(({ url }) => url.includes("include_restricted=true") && !url.includes("anonymous")));
  return result instanceof UnknownUser ? { verified: result.verified, unverified: result.unverified } : result;
}

const user = (id, address, isVerified) => ({ id, primary_email: address, primary_email_verified: isVerified });

test("a user is found by the whole verified address, in any case", async () => {
  const longer = user("1", "ada@example.com.au", true);
  assert.equal(await found(" ada@EXAMPLE.com ", longer, user("2", "Ada@example.com", true)), "2");
  assert.deepEqual(await found("ada@example.com", longer), { verified: [], unverified: [] });
  assert.deepEqual(await found("ada@example.com"), { verified: [], unverified: [] });
  assert.equal(await userId(new Api(() => CREDENTIALS, { fetch: () => assert.fail() }), "an-id"), "an-id");
});

test("an address that somebody entered without proof finds nobody", async () => {
  const [stranger, ada] = [user("1", "ada@example.com", false), user("2", "ada@example.com", true)];
  // Signing up with someone else's address claims the address until its owner proves it.
  const signsIn = { ...stranger, primary_email_auth_enabled: true };
  assert.deepEqual(await found("ada@example.com", stranger), { verified: [], unverified: ["1"] });
  assert.deepEqual(await found("ada@example.com", signsIn), { verified: [], unverified: ["1"] });
  assert.equal(await found("ada@example.com", stranger, ada), "2");
  assert.equal(await found("ada@example.com", ada, signsIn), "2");
  assert.deepEqual(await found("ada@example.com", ada, { ...ada, id: "3" }, stranger), { verified: ["2", "3"], unverified: ["1"] });
});

test("the reason why an address finds nobody names the candidates", () => {
  const said = (...ids) => texts.failed.user(new UnknownUser("ada@example.com", ...ids));
  assert.match(said([], []), /^No user has the verified primary address ada@example\.com\.$/);
  assert.match(said([], ["1", "2"]), /so it may not be theirs: 1, 2\. Enter the id/);
  assert.match(said(["1", "2"], ["3"]), /Several users .*: 1, 2\.$/);
  assert.match(said([], [..."123456789"]), /not be theirs: 1, 2, 3, 4, 5 and 4 more\. Enter/);
});

test("the header that admits restricted users is sent only on demand", () => {
  const name = "x-service-allow-restricted-user";
  const credentials = { projectId: "internal", level: "client", token: "t" };
  assert.equal(request({ ...credentials, isRestrictedAllowed: true }, "GET", "/users/me").headers[name], "true");
  assert.ok(!Object.hasOwn(request(credentials, "GET", "/users/me").headers, name));
});
