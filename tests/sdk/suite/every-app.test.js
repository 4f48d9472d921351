// Members that all types of apps have. The admin app has all members of the server app, which has
// all members of the client app.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { before, test } from "node:test";

import { shownBy } from "../support/authenticator.js";
import { asClient, configure } from "../support/gateway.js";
import { linkOf } from "../support/inbox.js";
import { CALLBACK, PASSWORD, newAddress, ok, sdk, version, world } from "../support/world.js";

const w = world();
const APPS = { StackClientApp: (more) => w.client(more), StackServerApp: (more) => w.server(more), StackAdminApp: (more) => w.admin(more) };
const isOld = version === "2.8.77";
before(async () => {
  await w.started;
  await configure(w.gateway, { magic_link_enabled: true, oauth_providers: [{ id: "github", client_id: "id", client_secret: "secret" }] });
});

/** A test with each type of app. */
function each(name, run) {
  for (const [type, make] of Object.entries(APPS)) test(`${type}: ${name}`, () => run(make, type));
}

/** A test with each type of app with a server key. */
function eachServer(name, run) {
  for (const type of ["StackServerApp", "StackAdminApp"]) test(`${type}: ${name}`, () => run(APPS[type]()));
}

/** Signs up a new account in an app. */
async function signUp(app, email = newAddress()) {
  ok(await app.signUpWithCredential({ email, password: PASSWORD, noVerificationCallback: true, noRedirect: true }));
  return { email, user: await app.getUser({ or: "throw" }) };
}

each("a user signs up, in and out, and has tokens meanwhile", async (make) => {
  const app = make();
  const { email, user } = await signUp(app);
  const tokens = await app.getAuthJson();
  assert.deepEqual([await app.getAccessToken(), await app.getRefreshToken()], [tokens.accessToken, tokens.refreshToken]);
  assert.deepEqual(await app.getAuthHeaders(), { "x-stack-auth": JSON.stringify(tokens) });
  if (!isOld) assert.match(await app.getAuthorizationHeader(), /^Bearer \S+$/);
  assert.equal((await app.getPartialUser({ from: "token" })).id, user.id);
  assert.equal(await app.getConvexClientAuth({})({ forceRefreshToken: false }), tokens.accessToken);
  assert.equal(await app.getConvexHttpClientAuth({ tokenStore: tokens }), tokens.accessToken);
  await app.signOut();
  assert.equal(await app.getUser(), null);
  assert.equal(await w.returning(tokens.refreshToken).getUser(), null);
  ok(await app.signInWithCredential({ email, password: PASSWORD, noRedirect: true }));
  assert.equal((await app.getUser()).id, user.id);
});

each("Convex identifies the user of a token", async (make) => {
  const ctx = { auth: { getUserIdentity: async () => ({ subject: "u", name: "Ada", email: null, email_verified: false, is_anonymous: false, is_restricted: false, requires_totp_mfa: false }) } };
  const { id, displayName } = await make().getPartialUser({ from: "convex", ctx });
  assert.deepEqual([id, displayName], ["u", "Ada"]);
});

each("a forgotten password is reset", async (make) => {
  const { email } = await w.signedUp();
  const app = make();
  ok(await app.sendForgotPasswordEmail(email, { callbackUrl: CALLBACK }));
  const { code } = linkOf(await w.inbox.next(email));
  ok(await app.verifyPasswordResetCode(code));
  ok(await app.resetPassword({ code, password: "a password after reset" }));
  assert.equal(await w.tryPassword(email, "a password after reset"), "ok");
});

each("a link signs in, and another one verifies an address", async (make) => {
  const [app, email] = [make(), newAddress()];
  ok(await app.sendMagicLinkEmail(email, { callbackUrl: CALLBACK }));
  ok(await app.signInWithMagicLink(linkOf(await w.inbox.next(email)).code, { noRedirect: true }));
  assert.equal((await app.getUser()).primaryEmail, email);
  const other = await w.signedUp();
  await other.user.sendVerificationEmail({ callbackUrl: CALLBACK });
  ok(await app.verifyEmail(linkOf(await w.inbox.next(other.email)).code));
  assert.equal((await other.app.getUser()).primaryEmailVerified, true);
});

each("a second factor is required", async (make) => {
  const { email, user } = await w.signedUp();
  const secret = randomBytes(20);
  await user.update({ totpMultiFactorSecret: secret });
  const answer = await asClient(w.gateway, "POST", "/auth/password/sign-in", { email, password: PASSWORD });
  const app = make();
  ok(await app.signInWithMfa(await shownBy(secret), (await answer.json()).details.attempt_code, { noRedirect: true }));
  assert.equal((await app.getUser()).id, user.id);
});

each("an invitation is read and accepted", async (make) => {
  const team = await w.server().createTeam({ displayName: "Engines" });
  const [app, email] = [make(), newAddress()];
  ok(await app.sendMagicLinkEmail(email, { callbackUrl: CALLBACK }));
  ok(await app.signInWithMagicLink(linkOf(await w.inbox.next(email)).code, { noRedirect: true }));
  await team.inviteUser({ email, callbackUrl: CALLBACK });
  const { code } = linkOf(await w.inbox.next(email));
  ok(await app.verifyTeamInvitationCode(code));
  assert.deepEqual({ ...ok(await app.getTeamInvitationDetails(code)) }, { teamDisplayName: "Engines" });
  ok(await app.acceptTeamInvitation(code));
  assert.deepEqual((await (await app.getUser()).listTeams()).map(({ id }) => id), [team.id]);
});

each("a command-line tool gets a session", async (make) => {
  const { user } = await w.signedUp();
  const { refreshToken: refresh_token } = await user.currentSession.getTokens();
  let confirmed;
  const promptLink = (link) => {
    confirmed = asClient(w.gateway, "POST", "/auth/cli/complete", { login_code: new URL(link).searchParams.get("login_code"), refresh_token });
  };
  const token = ok(await make().promptCliLogin({ appUrl: "http://localhost:3000", promptLink, waitTimeMillis: 50 }));
  assert.equal((await confirmed).status, 200);
  assert.equal((await w.returning(token).getUser()).id, user.id);
});

each("the project and its providers are read", async (make, type) => {
  const project = await make().getProject();
  assert.equal(project.id, w.gateway.projectId, type);
  assert.deepEqual(project.config.oauthProviders.map(({ id }) => id), ["github"]);
});

/** An app's methods that lead to pages, by name. */
function redirectsOf(app) {
  const prototypes = [];
  for (let it = Object.getPrototypeOf(app); it; it = Object.getPrototypeOf(it)) prototypes.push(it);
  return [...new Set(prototypes.flatMap((it) => Object.getOwnPropertyNames(it)))].filter((name) => /^redirectTo[A-Z]/.test(name));
}

each("each redirect leads to its page", async (make) => {
  const found = redirectsOf(make());
  assert.ok(found.length >= 16, `${found}`);
  const pages = found.map((method) => (method === "redirectToOAuthCallback" ? "oauthCallback" : method[10].toLowerCase() + method.slice(11)));
  const visited = [];
  const app = make({ redirectMethod: { navigate: (to) => visited.push(to) }, urls: Object.fromEntries(pages.map((page) => [page, `/at/${page}`])) });
  // After each of these calls, the SDK waits two seconds for the browser to leave the page.
  await Promise.all(found.map((method) => app[method]()));
  assert.deepEqual(visited.map((to) => to.split("?")[0]).sort(), pages.map((page) => `/at/${page}`).sort());
});

each("a provider and a passkey need a browser, and the SDK says so", async (make) => {
  const app = make();
  await assert.rejects(app.signInWithOAuth("github"), /only be called in a browser/);
  await assert.rejects(app.callOAuthCallback(), /only be called in a browser/);
  const { status, error } = await app.signInWithPasskey();
  assert.deepEqual([status, error.errorCode], ["error", "PASSKEY_AUTHENTICATION_FAILED"]);
});

eachServer("users and teams are created, found and listed", async (app) => {
  const [user, other] = [await app.createUser({ displayName: "Ada" }), await app.createUser({ displayName: "Bob" })];
  assert.equal((await app.getUser(user.id)).displayName, "Ada");
  assert.ok((await app.listUsers({ query: other.id })).some(({ id }) => id === other.id));
  const team = await app.createTeam({ displayName: "Engines", creatorUserId: user.id });
  assert.equal((await app.getTeam(team.id)).displayName, "Engines");
  assert.ok((await app.listTeams()).some(({ id }) => id === team.id));
  if (!isOld) assert.ok((await app.listTeamMemberPermissions(team.id)).some(({ userId, permissionId }) => userId === user.id && permissionId === "team_admin"));
});

eachServer("the signed-in user is read, and gets an account at a provider", async (app) => {
  const { user } = await signUp(app);
  assert.equal((await app.getServerUser()).id, user.id);
  const account = { accountId: user.id, providerConfigId: "github", email: "ada@github.example", allowSignIn: true, allowConnectedAccounts: true };
  ok(await app.createOAuthProvider({ userId: user.id, ...account }));
  assert.deepEqual((await app.getUser()).oauthProviders.map(({ id }) => id), ["github"]);
});

eachServer("emails are sent and counted", async (app) => {
  const { email, user } = await w.signedUp();
  await app.sendEmail({ userIds: [user.id], subject: "News", html: "<p>News</p>" });
  assert.equal((await w.inbox.next(email)).subject, "News");
  const { stats, capacity } = await app.getEmailDeliveryStats();
  assert.ok(stats.hour.sent >= 1 && capacity.rate_per_second > 0);
});

test("an administrator boosts the rate of emails", async () => {
  const admin = w.admin();
  await admin.activateEmailCapacityBoost();
  assert.equal((await admin.getEmailDeliveryStats()).capacity.is_boost_active, true);
});

const elsewhere = process.env.DEPLOYMENT ? "the tests reach a deployment at another address than its own" : false;

test("Convex is configured to verify the tokens of the project", { skip: elsewhere }, async () => {
  const { url, projectId } = w.gateway;
  const [users] = sdk.getConvexProvidersConfig({ baseUrl: url, projectId });
  const { app } = await w.signedUp();
  const { iss } = JSON.parse(Buffer.from((await app.getAccessToken()).split(".")[1], "base64url"));
  assert.deepEqual([users.issuer.href, users.algorithm], [iss, "ES256"]);
  assert.ok((await (await fetch(users.jwks)).json()).keys.length > 0);
});

test("the functions and both names of the apps in the package work", { skip: isOld && "the older version has none" }, () => {
  const config = { auth: { allowSignUp: false } };
  assert.deepEqual([sdk.defineStackConfig(config), sdk.defineHexclaveConfig(config)], [config, config]);
  assert.ok(sdk.getPagePrompt("signIn").fullPrompt.length > 0);
  assert.equal(sdk.getPagePrompt("no such page"), null);
  for (const type of Object.keys(APPS)) assert.equal(sdk[type], sdk[type.replace("Stack", "Hexclave")]);
});
