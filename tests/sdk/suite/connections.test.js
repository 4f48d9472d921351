// The accounts of a user at providers as connections, single permissions and teams of a user, and
// the user whom a token belongs to.

import assert from "node:assert/strict";
import { before, test } from "node:test";

import { configure } from "../support/gateway.js";
import { ok, refused, world } from "../support/world.js";

const w = world();
before(async () => {
  await w.started;
  await configure(w.gateway, { oauth_providers: [{ id: "github", client_id: "id", client_secret: "secret" }], client_team_creation_enabled: true });
});

test("a provider account is a connection without a token", async () => {
  const { user } = await w.signedUp();
  const server = w.server();
  const created = ok(await server.createOAuthProvider({
    userId: user.id, accountId: "1", providerConfigId: "github", email: "ada@github.example", allowSignIn: true, allowConnectedAccounts: true,
  }));
  assert.equal((await user.getOAuthProvider(created.id)).id, created.id);
  const [connection, ...others] = await user.listConnectedAccounts();
  assert.equal(others.length, 0);
  assert.deepEqual([connection.provider, connection.providerAccountId], ["github", "1"]);
  refused(await connection.getAccessToken(), "OAUTH_ACCESS_TOKEN_NOT_AVAILABLE");
  assert.equal(await user.getConnectedAccount("github"), null);
  await (await (await server.getUser(user.id)).getOAuthProvider(created.id)).delete();
  assert.deepEqual(await user.listConnectedAccounts(), []);
});

test("a server creates a team for a user, and both see it", async () => {
  const { user } = await w.signedUp();
  const of = await w.server().getUser(user.id);
  const team = await of.createTeam({ displayName: "Engines" });
  assert.equal((await of.getTeam(team.id)).displayName, "Engines");
  assert.equal(await of.getTeam("00000000-0000-4000-8000-000000000000"), null);
  assert.equal((await of.getPermission(team, "$update_team")).id, "$update_team");
  const own = await user.getTeam(team.id);
  assert.equal((await user.getPermission(own, "$update_team")).id, "$update_team");
  assert.equal(await user.getPermission(own, "no_such_permission"), null);
});

test("a token identifies its user to clients and servers", async () => {
  const { app, user, email } = await w.signedUp();
  const tokens = await user.currentSession.getTokens();
  assert.deepEqual(tokens, await app.getUser().then((user) => user.currentSession.getTokens()));
  const server = w.server({ tokenStore: { accessToken: tokens.accessToken, refreshToken: tokens.refreshToken } });
  const seen = await server.getPartialUser({ from: "token" });
  assert.deepEqual([seen.id, seen.primaryEmail], [user.id, email]);
  assert.equal((await server.getServerUser()).id, user.id);
});

test("Convex gets the token of the user", async () => {
  const { app, user } = await w.signedUp();
  const { accessToken } = await user.getAuthJson();
  assert.equal(await app.getConvexClientAuth({})({ forceRefreshToken: false }), accessToken);
  assert.equal(await app.getConvexHttpClientAuth({ tokenStore: { accessToken, refreshToken: await user.getRefreshToken() } }), accessToken);
});
