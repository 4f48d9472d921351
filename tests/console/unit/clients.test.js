// OAuth clients: where they lead, what a form sends, and scopes in words.

import assert from "node:assert/strict";
import { test } from "node:test";

import { scopes } from "../../../infra/console/web/texts-grants.js";
import { bodyOf } from "../../../infra/console/web/views/client-access.js";
import { sent, stateOf } from "../../../infra/console/web/views/client-common.js";
import { hostsOf } from "../../../infra/console/web/views/clients-list.js";
import { metadataUrl, protectedMetadata } from "../../../infra/console/web/views/resource-setup.js";
import { meaning } from "../../../infra/console/web/views/user-grants.js";

test("a redirect URI leads to a host, or to the scheme of a native app", () => {
  for (const [uri, host] of [
    ["https://app.example.com/callback?x=1", "app.example.com"],
    ["https://app.example.com:8443/", "app.example.com:8443"],
    ["http://127.0.0.1:51004/cb", "127.0.0.1"],
    ["http://[::1]:1234/cb", "[::1]"],
    // Any app can claim a scheme, whatever host follows it.
    ["com.example.app:/cb", "com.example.app:"],
    ["com.example.app://bank.example/cb", "com.example.app:"],
    ["no URI", "no URI"],
  ])
    assert.deepEqual(hostsOf([uri]), [host]);
  assert.deepEqual(hostsOf(["https://a.example/1", "https://b.example/", "https://a.example/2"]), ["a.example", "b.example"]);
  assert.deepEqual(hostsOf([]), []);
});

test("who may sign in is sent as the API takes it", () => {
  const values = { who: "teams", allowed_team_ids: ["a"], allowed_permission_id: "p" };
  assert.deepEqual(bodyOf({ who: "teams", allowed_team_ids: ["a"] }, values), { allowed_team_ids: ["a"] });
  assert.deepEqual(bodyOf({ who: "permission" }, { ...values, who: "permission" }), { allowed_permission_id: "p" });
  const everyone = { allowed_team_ids: null, allowed_permission_id: null };
  assert.deepEqual(bodyOf({ who: "everyone" }, { ...values, who: "everyone" }), everyone);
  assert.deepEqual(bodyOf({ owner: "own", scopes: ["openid"] }, values), { scopes: ["openid"], is_first_party: true });
  assert.deepEqual(sent({ name: "Notes" }), { name: "Notes" }, "what is not in the form is not sent");
});

test("a client that nobody can sign in to says why", () => {
  const client = { is_disabled: false, redirect_uris: ["https://a.example/"] };
  assert.deepEqual(stateOf(client), ["done", "On"]);
  assert.deepEqual(stateOf({ ...client, redirect_uris: [] }), ["waiting", "No redirect URI"]);
  assert.deepEqual(stateOf({ is_disabled: true, redirect_uris: [] }), ["aside", "Switched off"]);
});

test("a client that describes itself needs the project's acceptance", () => {
  const config = { oauth_client_documents_enabled: true, oauth_client_document_hosts: [], oauth_client_registration_enabled: false };
  const document = { source: "document", metadata_url: "https://a.example:8443/client.json", redirect_uris: ["https://a.example/"] };
  const registered = { source: "registration", redirect_uris: ["https://a.example/"] };
  const of = (client, changes) => stateOf(client, { ...config, ...changes })[1];
  assert.deepEqual([of(document), of(registered)], ["On", "Not accepted"]);
  assert.equal(of(document, { oauth_client_document_hosts: ["a.example"] }), "On", "a port is not part of the host");
  assert.equal(of(document, { oauth_client_document_hosts: ["b.example"] }), "Not accepted");
  assert.equal(of(document, { oauth_client_documents_enabled: false, oauth_client_document_hosts: ["a.example"] }), "Not accepted");
  assert.equal(of({ ...registered, is_disabled: true }), "Switched off");
});

test("a resource's metadata is where RFC 9728 puts it", () => {
  for (const [identifier, url] of [
    ["https://a.example", "https://a.example/.well-known/oauth-protected-resource"],
    ["https://a.example/", "https://a.example/.well-known/oauth-protected-resource"],
    ["https://a.example/mcp", "https://a.example/.well-known/oauth-protected-resource/mcp"],
    ["https://a.example/mcp/", "https://a.example/.well-known/oauth-protected-resource/mcp/"],
    ["http://[::1]:9401/mcp?tenant=a", "http://[::1]:9401/.well-known/oauth-protected-resource/mcp?tenant=a"],
    ["https://a.example/?tenant=a", "https://a.example/.well-known/oauth-protected-resource?tenant=a"],
    ["https://a.example?tenant=a/b", "https://a.example/.well-known/oauth-protected-resource?tenant=a/b"],
  ])
    assert.equal(metadataUrl(identifier), url);
  const without = protectedMetadata({ identifier: "https://a.example", name: "A", scopes: [] }, "https://issuer.example");
  assert.ok(!("scopes_supported" in without), "RFC 9728 forbids empty lists");
});

test("every scope has words", () => {
  assert.deepEqual(meaning(["openid", "email", "offline_access"]), ["Who the user is, email address", "stays signed in"]);
  assert.deepEqual(meaning(["teams"]), ["Teams", ""]);
  assert.deepEqual(meaning(["later"]), ["Later", ""]);
  assert.deepEqual(Object.keys(scopes), ["openid", "profile", "email", "teams", "permissions", "offline_access"]);
});
