// Projects owned by users of the project "internal", which are created, configured and deleted with
// the SDK's admin app for a session.

import assert from "node:assert/strict";
import { test } from "node:test";

import { openInternal } from "../support/gateway.js";
import { PASSWORD, newAddress, ok, throwsCode, world } from "../support/world.js";

const own = process.env.DEPLOYMENT ? { skip: "the project internal of a deployment belongs to its operator" } : {};
const w = world();

/** A user of the project `internal`. */
async function owner() {
  await openInternal(w.gateway);
  const app = w.client({ projectId: "internal", publishableClientKey: w.gateway.internalClientKey });
  ok(await app.signUpWithCredential({ email: newAddress("owner"), password: PASSWORD, noVerificationCallback: true, noRedirect: true }));
  const user = await app.getUser({ or: "throw" });
  return { app, user, team: user.selectedTeam };
}

/** An owner with a project. */
async function owned(more) {
  const { user, team } = await owner();
  const project = await user.createProject({ displayName: "Notes", teamId: team.id, ...more });
  return { user, team, project };
}

/** Creates a key set for a project. */
async function keysOf(project) {
  return await project.app.createInternalApiKey({
    description: "all",
    expiresAt: new Date(Date.now() + 3_600_000),
    hasPublishableClientKey: true,
    hasSecretServerKey: true,
    hasSuperSecretAdminKey: true,
  });
}

test("a user creates projects, lists them, and owns them through a team", own, async () => {
  const { user, team, project } = await owned({ description: "For writing down", config: { magicLinkEnabled: true } });
  assert.deepEqual([project.displayName, project.description, project.ownerTeamId], ["Notes", "For writing down", team.id]);
  assert.deepEqual([project.config.credentialEnabled, project.config.magicLinkEnabled, project.config.allowLocalhost], [true, true, true]);
  await user.createProject({ displayName: "Looms", teamId: team.id });
  assert.deepEqual((await user.listOwnedProjects()).map(({ displayName }) => displayName).sort(), ["Looms", "Notes"]);
  const stranger = await owner();
  assert.deepEqual(await stranger.user.listOwnedProjects(), []);
  await assert.rejects(stranger.user.createProject({ displayName: "Mine", teamId: team.id }));
});

test("a project is created and updated with every field of its type", own, async () => {
  const logos = { logoUrl: "https://a.test/1", logoFullUrl: "https://a.test/2", logoDarkModeUrl: "https://a.test/3", logoFullDarkModeUrl: "https://a.test/4" };
  const { user, project } = await owned({ onboardingStatus: "auth_setup", isDevelopmentEnvironment: true, isProductionMode: true, ...logos });
  const read = async () => (await user.listOwnedProjects())[0];
  const shown = ({ onboardingStatus, isProductionMode, logoUrl, logoFullUrl, logoDarkModeUrl, logoFullDarkModeUrl }) =>
    ({ onboardingStatus, isProductionMode, logoUrl, logoFullUrl, logoDarkModeUrl, logoFullDarkModeUrl });
  assert.deepEqual(shown(project), { onboardingStatus: "auth_setup", isProductionMode: true, ...logos });
  await project.update({ onboardingStatus: "welcome", description: null });
  assert.deepEqual(shown(await read()), { onboardingStatus: "welcome", isProductionMode: true, ...logos });
  assert.equal((await read()).description, "");
  await project.update({ onboardingStatus: "completed" });
  assert.equal((await read()).onboardingStatus, "completed");
  await assert.rejects(project.update({ onboardingStatus: "done" }));
});

test("a push changes nothing that a project was created with", own, async () => {
  const { project } = await owned({ config: { signUpEnabled: true, credentialEnabled: false } });
  await project.pushConfig({ auth: { allowSignUp: false, password: { allowSignIn: true } } }, { source: { type: "unlinked" } });
  const { allowSignUp, password } = (await project.getConfig()).auth;
  assert.deepEqual([allowSignUp, password.allowSignIn], [true, false]);
});

test("the admin app of an owned project works without any key", own, async () => {
  const { project } = await owned();
  const made = await project.app.createUser({ primaryEmail: newAddress(), displayName: "Ada" });
  assert.equal((await project.app.getUser(made.id)).displayName, "Ada");
  assert.equal((await project.app.listUsers()).length, 1);
  assert.equal((await project.app.getProject()).id, project.id);
});

test("a mail server is set, read without its password, and written back unchanged", own, async () => {
  const { user, project } = await owned();
  const emailConfig = { type: "standard", host: "mail.example.com", port: 587, username: "notes", senderName: "Notes", senderEmail: "notes@example.com" };
  const read = async () => (await user.listOwnedProjects())[0].config.emailConfig;
  await project.update({ config: { emailConfig: { ...emailConfig, password: "the-password" } } });
  assert.deepEqual(await read(), { ...emailConfig, password: "********" });
  await project.update({ config: { emailConfig: { ...(await read()), senderName: "Papers" } } });
  assert.deepEqual(await read(), { ...emailConfig, senderName: "Papers", password: "********" });
  await assert.rejects(project.update({ config: { emailConfig: { ...(await read()), host: "evil.example.com" } } }), /password/);
  await project.update({ config: { emailConfig: { type: "shared" } } });
  assert.deepEqual(await read(), { type: "shared" });
});

test("settings are updated as fields and as configuration, and take effect", own, async () => {
  const { user, project } = await owned();
  await project.update({ displayName: "Papers", config: { clientTeamCreationEnabled: true } });
  const [read] = await user.listOwnedProjects();
  const again = await project.app.getProject();
  assert.deepEqual([again.displayName, again.config.clientTeamCreationEnabled, read.id], ["Papers", true, project.id]);

  await project.updateConfig({ "auth.allowSignUp": false, "teams.allowClientTeamCreation": false });
  const config = await project.getConfig();
  assert.deepEqual([config.auth.allowSignUp, config.teams.allowClientTeamCreation], [false, false]);
  const keys = await keysOf(project);
  const client = w.client({ projectId: project.id, publishableClientKey: keys.publishableClientKey });
  const refused = await client.signUpWithCredential({ email: newAddress(), password: PASSWORD, noVerificationCallback: true, noRedirect: true })
    .catch((error) => ({ error }));
  assert.equal(refused.error.errorCode, "SIGN_UP_NOT_ENABLED");
  await project.resetConfigOverrideKeys("environment", ["auth.allowSignUp"]);
  ok(await client.signUpWithCredential({ email: newAddress(), password: PASSWORD, noVerificationCallback: true, noRedirect: true }));
  await project.pushConfig({ auth: { otp: { allowSignIn: true } } }, { source: { type: "unlinked" } });
  assert.deepEqual((await project.getConfig()).auth.otp, { allowSignIn: true });
  await assert.rejects(project.updateConfig({ "auth.allowSignUp": "perhaps" }), /auth\.allowSignUp/);
});

test("a project is transferred to another team", own, async () => {
  const { user, project } = await owned();
  const team = await user.createTeam({ displayName: "Weavers" });
  await user.transferProject(project.id, team.id);
  const moved = (await user.listOwnedProjects()).find((own) => own.id === project.id);
  assert.equal(moved.ownerTeamId, team.id);
});

test("keys are created and revoked, and deleted with their project", own, async () => {
  const { user, project } = await owned();
  const keys = await keysOf(project);
  const server = w.server({ projectId: project.id, publishableClientKey: keys.publishableClientKey, secretServerKey: keys.secretServerKey });
  await server.createUser({ displayName: "Ada" });
  const other = await keysOf(project);
  await other.revoke();
  const revoked = w.server({ projectId: project.id, publishableClientKey: keys.publishableClientKey, secretServerKey: other.secretServerKey });
  await assert.rejects(revoked.createUser({}));
  await project.delete();
  await throwsCode(server.createUser({}), "CURRENT_PROJECT_NOT_FOUND");
  const app = w.client({ projectId: "internal", publishableClientKey: w.gateway.internalClientKey });
  ok(await app.signInWithCredential({ email: user.primaryEmail, password: PASSWORD, noRedirect: true }));
  assert.deepEqual(await (await app.getUser()).listOwnedProjects(), []);
});

test("a server of the project internal lists the projects of its user", own, async () => {
  const { user, project } = await owned();
  const tokenStore = await user.currentSession.getTokens();
  const { internalClientKey: publishableClientKey, internalServerKey: secretServerKey } = w.gateway;
  const server = w.server({ projectId: "internal", publishableClientKey, secretServerKey, tokenStore });
  const seen = await server.getUser({ or: "throw" });
  assert.equal(seen.id, user.id);
  assert.deepEqual((await seen.listOwnedProjects()).map(({ id }) => id), [project.id]);
});
