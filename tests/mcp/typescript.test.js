// Both lines of the TypeScript SDK: a program that knows only the URL of an MCP server finds the
// project, introduces itself, lets its user sign up and consent, and calls the server's tools.

import assert from "node:assert/strict";
import { test } from "node:test";

import { decodeJwt, decodeProtectedHeader } from "jose";

import { startApp } from "../openid/support/app.js";
import { LIBRARIES, connect, newProvider, textOf } from "./support/program.js";
import { startMcp } from "./support/server.js";
import { SCOPES, world } from "./support/world.js";

const w = world();

/** Somebody who signs up at the first link, and consents at each one. */
async function newPerson(t, app) {
  const it = await w.newcomer(t);
  let isKnown = false;
  const visits = async (link) => {
    if (isKnown) await it.page.goto(link);
    else await it.signsUpAt(link);
    isKnown = true;
    await it.isAskedBy("Scribe", "127.0.0.1");
    const asked = new URL(link).searchParams.get("scope").split(" ");
    const text = await it.page.innerText("main");
    for (const { name, description } of SCOPES) assert.equal(text.includes(description), asked.includes(name), text);
    await it.allows();
    return app.next();
  };
  return Object.assign(it, { visits });
}

/** A program with a metadata document, or without one. */
async function newProgram(t, { hasDocument }) {
  const app = await startApp(t);
  const id = hasDocument ? (await w.documents(t)).publishClient(app.redirectUri) : undefined;
  return { app, id, provider: newProvider(app.redirectUri, id), person: await newPerson(t, app) };
}

for (const library of Object.keys(LIBRARIES)) {
  for (const hasDocument of [true, false]) {
    test(`${library} connects to a server ${hasDocument ? "with its metadata document" : "after registering itself"}`, async (t) => {
      const { url } = await startMcp(t, w);
      const { id, provider, person } = await newProgram(t, { hasDocument });
      const { client } = await connect(library, provider, url, person.visits);
      const { tools } = await client.listTools();
      assert.deepEqual(tools.map(({ name }) => name), ["read_notes", "write_note"]);

      const { client: made, tokens } = provider.kept;
      const claims = decodeJwt(tokens.access_token);
      assert.equal(textOf(await client.callTool({ name: "read_notes", arguments: {} })), `Notes of ${claims.sub}`);
      assert.equal(decodeProtectedHeader(tokens.access_token).typ, "at+jwt");
      assert.deepEqual([claims.iss, claims.aud, claims.client_id], [w.issuer(), url, made.client_id]);
      if (hasDocument) assert.equal(made.client_id, id);
      else assert.equal(made.client_secret, undefined, "programs cannot keep a secret");
      const { items } = await w.server("GET", `/users?query=${encodeURIComponent(person.email)}`);
      assert.deepEqual(items.map((user) => user.id), [claims.sub]);
      person.check();
    });
  }

  for (const hasDocument of [true, false]) {
    // A client registers with the scopes of its first request, which must not limit later ones.
    test(`${library} asks for another scope when a tool needs it, ${hasDocument ? "with its metadata document" : "after registering itself"}`, async (t) => {
      const { url } = await startMcp(t, w);
      const { provider, person } = await newProgram(t, { hasDocument });
      const { client, stepsUp } = await connect(library, provider, url, person.visits);
      const scopes = () => decodeJwt(provider.kept.tokens.access_token).scope.split(" ");
      // The server's first challenge names this scope only, although its metadata has both.
      assert.ok(scopes().includes("notes:read") && !scopes().includes("notes:write"), `${scopes()}`);

      const written = await stepsUp(() => client.callTool({ name: "write_note", arguments: { note: "Milk" } }));
      assert.match(textOf(written), /^Written for \S+: Milk$/);
      assert.ok(scopes().includes("notes:read") && scopes().includes("notes:write"), `${scopes()}`);
    });
  }
}

// The older line of the SDK never asks for a refresh token.
test("a program renews its token without its user", async (t) => {
  const { url } = await startMcp(t, w, { access_token_seconds: 60 });
  const { provider, person } = await newProgram(t, { hasDocument: true });
  const { client } = await connect("@modelcontextprotocol/client", provider, url, person.visits);
  const { access_token, refresh_token } = provider.kept.tokens;
  const { exp, iat } = decodeJwt(access_token);
  assert.equal(exp - iat, 60);
  assert.ok(refresh_token, "the program may stay signed in");
  // The server refuses this one, as it will refuse the first one in a minute.
  provider.kept.tokens = { ...provider.kept.tokens, access_token: `${access_token.slice(0, -4)}AAAA` };
  await client.callTool({ name: "read_notes", arguments: {} });
  const { tokens } = provider.kept;
  assert.equal(decodeJwt(tokens.access_token).aud, url);
  assert.notEqual(tokens.refresh_token, refresh_token, "refresh tokens rotate");
});

test("a user who refuses leaves the program without a token", async (t) => {
  const { url } = await startMcp(t, w);
  const { app, provider, person } = await newProgram(t, { hasDocument: true });
  const refuses = async (link) => {
    await person.signsUpAt(link);
    await person.denies();
    return app.next();
  };
  await assert.rejects(connect("@modelcontextprotocol/client", provider, url, refuses), { code: "access_denied" });
  assert.equal(provider.kept.tokens, undefined);
});
