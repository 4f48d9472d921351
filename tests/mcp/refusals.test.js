// What the project refuses to MCP clients, and what servers refuse by its tokens: another audience,
// an unknown service, another place to return to, and documents or registrations that contradict
// themselves.

import assert from "node:assert/strict";
import { test } from "node:test";

import { decodeJwt } from "jose";

import { REDIRECT_URI, authorize, newCode, newToken, requestOf, token } from "./support/requests.js";
import { startMcp } from "./support/server.js";
import { world } from "./support/world.js";

const w = world();
const NATIVE = { client_name: "Scribe", redirect_uris: [REDIRECT_URI], token_endpoint_auth_method: "none", application_type: "native" };

/** A client that has registered itself; returns its id. */
async function registered(fields) {
  const { status, body } = await w.register({ ...NATIVE, ...fields });
  assert.equal(status, 201, JSON.stringify(body));
  return body.client_id;
}

/** Asks an MCP server for its tools; returns the status and the challenge. */
async function ask(url, access_token) {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...(access_token && { authorization: `Bearer ${access_token}` }) },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} }),
  });
  await response.text();
  return { status: response.status, challenge: response.headers.get("www-authenticate") ?? "" };
}

test("a server names its metadata to clients without a token", async (t) => {
  const { url } = await startMcp(t, w);
  const { status, challenge } = await ask(url);
  assert.equal(status, 401);
  const place = challenge.match(/^Bearer .*resource_metadata="([^"]+)"/)?.[1];
  const { resource, authorization_servers } = await (await fetch(place)).json();
  assert.deepEqual([resource, authorization_servers], [url, [w.issuer()]]);
});

test("a token for one server is refused by another one, and by the project's own API", async (t) => {
  const [first, second, client] = [await startMcp(t, w), await startMcp(t, w), await registered()];
  const { access_token, scope } = await newToken(w, client, first.url);
  assert.deepEqual([decodeJwt(access_token).aud, scope], [first.url, "notes:read"]);
  assert.equal((await ask(first.url, access_token)).status, 200);

  const elsewhere = await ask(second.url, access_token);
  assert.equal(elsewhere.status, 401);
  assert.match(elsewhere.challenge, /error="invalid_token"/);
  await assert.rejects(w.client("GET", "/users/me", undefined, access_token), /: 401 /);
  const { userinfo_endpoint } = await w.metadata();
  assert.equal((await fetch(userinfo_endpoint, { headers: { authorization: `Bearer ${access_token}` } })).status, 401);
});

test("a server refuses tokens of the project that are for no server", async (t) => {
  const [{ url }, client] = [await startMcp(t, w), await registered()];
  const { body } = await token(w, await newCode(w, client, { scope: "openid email" }));
  for (const other of [body.access_token, body.id_token]) {
    const { status, challenge } = await ask(url, other);
    assert.equal(status, 401);
    assert.match(challenge, /error="invalid_token"/);
  }
  const app = await w.client("POST", "/auth/password/sign-up", { email: `app.${Date.now()}@example.com`, password: "correct horse battery", verification_callback_url: "http://localhost:3000/" });
  assert.equal((await ask(url, app.access_token)).status, 401);
});

test("a token has only the scopes that its server has", async (t) => {
  const [first, client] = [await startMcp(t, w), await registered()];
  const second = await startMcp(t, w, { scopes: [{ name: "notes:share", description: "Share your notes" }] });
  const scopesOf = async (resource) => decodeJwt((await newToken(w, client, resource, { scope: "notes:read notes:write notes:share" })).access_token).scope.split(" ").toSorted();
  assert.deepEqual(await scopesOf(first.url), ["notes:read", "notes:write"]);
  assert.deepEqual(await scopesOf(second.url), ["notes:share"]);
});

test("an unknown resource is an invalid target, also one with another path or slash", async (t) => {
  const [{ url }, client] = [await startMcp(t, w), await registered()];
  const resources = ["https://notes.example.com/mcp", `${url}/`, `${url}/notes`, url.replace(/\/mcp$/, ""), url.replace("/mcp", "/MCP"), `${url}?a=b`, `${url}#a`, "mcp"];
  for (const resource of resources) {
    const { parameters } = requestOf(client, { resource });
    const { answer, page } = await authorize(w, parameters);
    assert.equal(answer?.error, "invalid_target", `${resource}: ${page}`);
    assert.deepEqual([answer.state, answer.iss], ["s-1", w.issuer()]);
    const { status, body } = await token(w, { ...(await newCode(w, client, { resource: url })), resource });
    assert.deepEqual([status, body.error], [400, "invalid_target"], resource);
  }
});

test("scheme and host of a resource may be in upper case", async (t) => {
  const [{ url }, client] = [await startMcp(t, w), await registered()];
  const { access_token } = await newToken(w, client, url.replace("http://", "HTTP://"));
  assert.equal(decodeJwt(access_token).aud, url);
});

test("a code for one server gives no token for another one", async (t) => {
  const [first, second, client] = [await startMcp(t, w), await startMcp(t, w), await registered()];
  const { status, body } = await token(w, { ...(await newCode(w, client, { resource: first.url })), resource: second.url });
  assert.deepEqual([status, body.error], [400, "invalid_target"]);
});

test("a refresh token stays with its server", async (t) => {
  const [first, second, client] = [await startMcp(t, w), await startMcp(t, w), await registered()];
  const { refresh_token } = await newToken(w, client, first.url, { scope: "notes:read offline_access" });
  const renews = (resource) => token(w, { grant_type: "refresh_token", refresh_token, client_id: client, resource });
  const { status, body } = await renews(second.url);
  assert.deepEqual([status, body.error], [400, "invalid_target"]);
  assert.equal(decodeJwt((await renews(first.url)).body.access_token).aud, first.url);
});

test("a user is sent only to a redirect URI of the client", async (t) => {
  const documents = await w.documents(t);
  for (const client of [documents.publishClient(REDIRECT_URI), await registered()]) {
    for (const redirect_uri of ["http://127.0.0.1:9402/other", "https://127.0.0.1:9402/callback", "http://localhost:9402/callback", "https://evil.example.com/callback"]) {
      const { parameters } = requestOf(client, { redirect_uri });
      const { status, answer, page } = await authorize(w, parameters);
      assert.deepEqual([status, answer], [400, undefined], page);
      assert.match(page, /redirect_uri/);
    }
  }
});

/** Documents that a client may not have, and what the page says about each. */
const DOCUMENTS = {
  "with another client_id": [{ client_id: "https://scribe.example.com/client.json" }, /client_id/],
  "without a name": [{ client_name: undefined }, /client_name/],
  "without redirect URIs": [{ redirect_uris: [] }, /redirect_uris/],
  "with a secret": [{ client_secret: "hunter2" }, /client_secret/],
  "with a method that needs a secret": [{ token_endpoint_auth_method: "client_secret_basic" }, /token_endpoint_auth_method/],
  "that is too long": [{ client_uri: `https://scribe.example.com/${"a".repeat(6_000)}` }, /./],
};
for (const [name, [fields, text]] of Object.entries(DOCUMENTS)) {
  test(`a metadata document ${name} is refused`, async (t) => {
    const { parameters } = requestOf((await w.documents(t)).publishClient(REDIRECT_URI, fields));
    const { status, answer, page } = await authorize(w, parameters);
    assert.deepEqual([status, answer], [400, undefined], page);
    assert.match(page, text);
  });
}

test("a metadata document is neither behind a redirect nor anything but JSON", async (t) => {
  const documents = await w.documents(t);
  const client = documents.publishClient(REDIRECT_URI);
  const urls = [
    documents.publish("/moved.json", { status: 302, headers: { location: client } }),
    documents.publish("/page.json", { headers: { "content-type": "text/html" }, body: "<!doctype html>" }),
    documents.publish("/broken.json", { body: "{" }),
    `${documents.origin}/missing.json`,
  ];
  for (const url of urls) {
    const { status, answer, page } = await authorize(w, requestOf(url).parameters);
    assert.deepEqual([status >= 400, answer], [true, undefined], `${url}: ${page}`);
  }
});

test("only trusted hosts may have documents, and none if documents are off", async (t) => {
  const client = (await w.documents(t)).publishClient(REDIRECT_URI);
  t.after(() => w.configure({ oauth_client_documents_enabled: true, oauth_client_document_hosts: [] }));
  const isRefused = async () => {
    const { status, answer, page } = await authorize(w, requestOf(client).parameters);
    assert.deepEqual([status, answer], [400, undefined], page);
  };
  await w.configure({ oauth_client_document_hosts: ["scribe.example.com"] });
  await isRefused();
  await w.configure({ oauth_client_documents_enabled: false, oauth_client_document_hosts: [] });
  await isRefused();
  assert.notEqual((await w.metadata()).client_id_metadata_document_supported, true);
});

/** Registrations that contradict themselves or ask for too much, and their errors (RFC 7591). */
const REGISTRATIONS = {
  "of a web application on the user's machine": [{ application_type: "web" }, "invalid_redirect_uri", /application_type/],
  "of a native application on the web": [{ redirect_uris: ["https://scribe.example.com/callback"] }, "invalid_redirect_uri", /application_type/],
  "without redirect URIs": [{ redirect_uris: [] }, "invalid_redirect_uri", /redirect_uris/],
  "with a redirect URI on the web without TLS": [{ application_type: "web", redirect_uris: ["http://scribe.example.com/callback"] }, "invalid_redirect_uri", /./],
  "with a secret": [{ token_endpoint_auth_method: "client_secret_basic" }, "invalid_client_metadata", /token_endpoint_auth_method/],
};
for (const [name, [fields, error, text]] of Object.entries(REGISTRATIONS)) {
  test(`a registration ${name} is refused`, async () => {
    const { status, body } = await w.register({ ...NATIVE, ...fields });
    assert.deepEqual([status, body.error], [400, error], JSON.stringify(body));
    assert.match(body.error_description, text);
  });
}

test("nobody registers while registration is off", async (t) => {
  const { registration_endpoint } = await w.metadata();
  t.after(() => w.configure({ oauth_client_registration_enabled: true }));
  await w.configure({ oauth_client_registration_enabled: false });
  assert.equal((await w.metadata()).registration_endpoint, undefined);
  const response = await fetch(registration_endpoint, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(NATIVE) });
  assert.ok(response.status === 403 || response.status === 404, `${response.status}`);
});
