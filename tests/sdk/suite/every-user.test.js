// Members that all types of users have: users who are signed in to a client app or a server app, in
// a project or in `internal`, and users that a server reads.

import assert from "node:assert/strict";
import { before, test } from "node:test";

import { linkOf } from "../support/inbox.js";
import { CURRENT_TYPES, SERVER_TYPES, USER_TYPES, configureAll, personOf, skips } from "../support/people.js";
import { CALLBACK, PASSWORD, newAddress, ok, refused, throwsCode, version, world } from "../support/world.js";

const w = world();
before(async () => {
  await w.started;
  await configureAll(w, {
    allow_user_api_keys: true,
    client_team_creation_enabled: true,
    client_user_deletion_enabled: true,
    magic_link_enabled: true,
    oauth_providers: [{ id: "github", client_id: "id", client_secret: "secret" }],
  });
});

/** A test with a new account as each of these types of users. */
function each(name, run, types = Object.keys(USER_TYPES)) {
  for (const type of types) test(`${type}: ${name}`, skips(type), async () => run(await personOf(w, type), type));
}

each("a profile is changed", async ({ user, email, read }) => {
  await user.setDisplayName("Ada");
  await user.setClientMetadata({ a: 1 });
  await user.update({ profileImageUrl: "https://example.com/ada.png" });
  const now = await read();
  assert.deepEqual([now.displayName, now.clientMetadata, now.profileImageUrl, now.primaryEmail], ["Ada", { a: 1 }, "https://example.com/ada.png", email]);
  assert.deepEqual([user.toClientJson().id, user.toClientJson().primary_email], [user.id, email]);
});

each("fields for servers are changed", async ({ user, read }) => {
  const moved = newAddress("moved");
  await user.setServerMetadata({ b: 2 });
  await user.setClientReadOnlyMetadata({ c: 3 });
  await user.setPrimaryEmail(moved, { verified: true });
  const now = await read();
  assert.deepEqual([now.serverMetadata, now.clientReadOnlyMetadata, now.primaryEmail, now.primaryEmailVerified], [{ b: 2 }, { c: 3 }, moved, true]);
}, SERVER_TYPES);

each("an address is added", async ({ user, email, read }) => {
  const second = newAddress("second");
  await user.createContactChannel({ type: "email", value: second, usedForAuth: false });
  assert.deepEqual((await user.listContactChannels()).map(({ value }) => value), [email, second]);
  assert.deepEqual((await (await read()).listContactChannels()).map(({ value }) => value), [email, second]);
});

each("a password is set", async ({ user, email, keys }, type) => {
  let signsIn = email;
  if (SERVER_TYPES.includes(type)) {
    await user.setPassword({ password: "a first password" });
  } else {
    signsIn = newAddress("link");
    const visitor = w.client(keys);
    ok(await visitor.sendMagicLinkEmail(signsIn, { callbackUrl: CALLBACK }));
    ok(await visitor.signInWithMagicLink(linkOf(await w.inbox.next(signsIn)).code, { noRedirect: true }));
    assert.equal(await (await visitor.getUser()).setPassword({ password: "a first password" }), undefined);
  }
  const back = w.client(keys);
  ok(await back.signInWithCredential({ email: signsIn, password: "a first password", noRedirect: true }));
  assert.equal((await back.getUser()).primaryEmail, signsIn);
});

each("the password is changed, and the address verified, only with a session", async ({ user, email, app, keys }, type) => {
  const change = () => user.updatePassword({ oldPassword: PASSWORD, newPassword: "a second password" });
  const send = () => user.sendVerificationEmail({ callbackUrl: CALLBACK });
  if (SERVER_TYPES.includes(type)) {
    // In a server app, the SDK sends the first request as a client, and declares that the second
    // one is impossible.
    await throwsCode(change(), "USER_AUTHENTICATION_REQUIRED");
    return assert.rejects(send(), /sendVerificationEmail\(\) on ServerUser/);
  }
  assert.equal(await send(), undefined);
  ok(await app.verifyEmail(linkOf(await w.inbox.next(email)).code));
  assert.equal(await change(), undefined);
  ok(await w.client(keys).signInWithCredential({ email, password: "a second password", noRedirect: true }));
});

each("accounts are linked only in a browser", async ({ user }) => {
  for (const link of ["linkConnectedAccount", "getOrLinkConnectedAccount"]) {
    await assert.rejects(user[link]("github"), /must be initiated on the client side/);
  }
}, SERVER_TYPES);

each("teams are created, selected and left", async ({ user, read }, type) => {
  const team = await user.createTeam({ displayName: "Engines" });
  assert.equal((await user.getTeam(team.id)).displayName, "Engines");
  assert.ok((await user.listTeams()).some(({ id }) => id === team.id));
  assert.equal((await read()).selectedTeam.id, team.id);
  await user.setSelectedTeam(null);
  assert.notEqual((await read()).selectedTeam?.id, team.id);
  await user.setSelectedTeam(team);
  assert.equal((await read()).selectedTeam.id, team.id);
  await (await user.getTeamProfile(team)).update({ displayName: "Countess" });
  assert.equal((await (await read()).getTeamProfile(team)).displayName, "Countess");
  // In a server app, the SDK sends this request as a client without a session.
  if (SERVER_TYPES.includes(type)) return throwsCode(user.leaveTeam(team), "USER_AUTHENTICATION_REQUIRED");
  await user.leaveTeam(team);
  assert.ok((await (await read()).listTeams()).every(({ id }) => id !== team.id));
});

each("an invitation is listed and accepted", async ({ user, server, email, own }, type) => {
  const made = await server.createTeam({ displayName: "Engines" });
  await made.inviteUser({ email, callbackUrl: CALLBACK });
  const channel = (await (await server.getUser(own.id)).listContactChannels())[0];
  await channel.update({ isVerified: true });
  const [received] = await user.listTeamInvitations();
  assert.deepEqual([received?.teamId, received?.recipientEmail], [made.id, email], type);
  await received.accept();
  assert.ok((await (await server.getUser(own.id)).listTeams()).some(({ id }) => id === made.id));
});

each("permissions are read", async ({ user }) => {
  const team = await user.createTeam({ displayName: "Engines" });
  assert.equal(await user.hasPermission(team, "$update_team"), true);
  assert.equal((await user.getPermission(team, "$update_team")).id, "$update_team");
  assert.deepEqual((await user.listPermissions(team, { recursive: false })).map(({ id }) => id), ["team_admin"]);
  assert.equal(await user.hasPermission("no_such_permission"), false);
});

each("permissions are granted and revoked", async ({ user, server }) => {
  const team = await server.createTeam({ displayName: "Engines" });
  await team.addUser(user.id);
  assert.equal(await user.hasPermission(team, "$delete_team"), false);
  await user.grantPermission(team, "team_admin");
  assert.equal(await user.hasPermission(team, "$delete_team"), true);
  await user.revokePermission(team, "team_admin");
  assert.equal(await user.hasPermission(team, "$delete_team"), false);
}, SERVER_TYPES);

each("sessions are listed and ended", async ({ user, email, keys }) => {
  const other = w.client(keys);
  ok(await other.signInWithCredential({ email, password: PASSWORD, noRedirect: true }));
  const refreshToken = await other.getRefreshToken();
  const [newest, oldest] = await user.getActiveSessions();
  assert.ok(newest.createdAt >= oldest.createdAt);
  await user.revokeSession(newest.id);
  assert.deepEqual((await user.getActiveSessions()).map(({ id }) => id), [oldest.id]);
  assert.equal(await w.client({ ...keys, tokenStore: { accessToken: "", refreshToken } }).getUser(), null);
});

each("a session is started for the user", async ({ user, keys }) => {
  const tokens = await (await user.createSession({ expiresInMillis: 3_600_000 })).getTokens();
  assert.equal((await w.client({ ...keys, tokenStore: tokens }).getUser()).id, user.id);
}, SERVER_TYPES);

each("API keys are created and listed", async ({ user, server }) => {
  const { id, value } = await user.createApiKey({ description: "CI", expiresAt: new Date(Date.now() + 3_600_000) });
  assert.equal((await server.getUser({ apiKey: value })).id, user.id);
  assert.deepEqual((await user.listApiKeys()).map((key) => [key.id, key.description, key.userId]), [[id, "CI", user.id]]);
});

each("categories of emails are declined", async ({ user, read }) => {
  const marketing = async (of) => (await of.listNotificationCategories()).find(({ name }) => name === "Marketing");
  await (await marketing(user)).setEnabled(false);
  assert.equal((await marketing(await read())).enabled, false);
});

each("accounts at providers are listed as such and as connections", async ({ user, server }) => {
  const account = { accountId: user.id, providerConfigId: "github", email: "ada@github.example", allowSignIn: true, allowConnectedAccounts: true };
  const created = ok(await server.createOAuthProvider({ userId: user.id, ...account }));
  assert.deepEqual((await user.listOAuthProviders()).map(({ id, type }) => [id, type]), [[created.id, "github"]]);
  assert.equal((await user.getOAuthProvider(created.id)).id, created.id);
  assert.deepEqual((await user.listConnectedAccounts()).map(({ provider, providerAccountId }) => [provider, providerAccountId]), [["github", user.id]]);
  const connection = await user.getConnectedAccount({ provider: "github", providerAccountId: user.id });
  refused(await connection.getAccessToken(), "OAUTH_ACCESS_TOKEN_NOT_AVAILABLE");
  assert.equal(await user.getConnectedAccount({ provider: "github", providerAccountId: "another" }), null);
});

each("tokens are read until the user signs out", async ({ user, keys, read }) => {
  const tokens = await user.currentSession.getTokens();
  assert.deepEqual(await user.getAuthJson(), tokens);
  assert.deepEqual([await user.getAccessToken(), await user.getRefreshToken()], [tokens.accessToken, tokens.refreshToken]);
  assert.deepEqual(await user.getAuthHeaders(), { "x-stack-auth": JSON.stringify(tokens) });
  if (version !== "2.8.77") assert.match(await user.getAuthorizationHeader(), /^Bearer \S+$/);
  await user.signOut();
  assert.equal(await w.client({ ...keys, tokenStore: { accessToken: "", refreshToken: tokens.refreshToken } }).getUser(), null);
  assert.deepEqual(await (await read()).getActiveSessions(), []);
}, CURRENT_TYPES);

each("an account is deleted", async ({ user, server }) => {
  await user.delete();
  assert.equal(await server.getUser(user.id), null);
});
