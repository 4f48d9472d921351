// The members of the two types of projects: a project as its administrator sees it, and a project
// in its owner's list. Also the owners of both types of projects.

import assert from "node:assert/strict";
import { before, test } from "node:test";

import { configureAll, personOf, skips } from "../support/people.js";
import { world } from "../support/world.js";

const w = world();
const OWNERS = ["CurrentInternalUser", "CurrentInternalServerUser"];
const source = { type: "pushed-from-unknown" };
before(async () => {
  await w.started;
  await configureAll(w, { client_team_creation_enabled: true });
});

/** An owner of this type with a new project. */
async function owned(type) {
  const { user } = await personOf(w, type);
  const team = await user.createTeam({ displayName: "Owners" });
  const project = await user.createProject({ displayName: "Notes", teamId: team.id });
  return { user, team, project, read: async () => (await user.listOwnedProjects()).find(({ id }) => id === project.id) };
}

const PROJECTS = { AdminOwnedProject: async ({ project }) => project, AdminProject: ({ project }) => project.app.getProject() };

for (const [type, of] of Object.entries(PROJECTS)) {
  test(`${type}: every operation on a project`, skips(OWNERS[0]), async () => {
    const it = await owned(OWNERS[0]);
    const project = await of(it);
    await project.update({ displayName: "Papers", config: { domains: [{ domain: "https://papers.example", handlerPath: "/handler" }] } });
    const read = await it.read();
    assert.deepEqual([read.displayName, read.config.domains], ["Papers", [{ domain: "https://papers.example", handlerPath: "/handler" }]]);

    await project.updateConfig({ "auth.otp.allowSignIn": true });
    assert.equal((await project.getConfig()).auth.otp.allowSignIn, true);
    await project.resetConfigOverrideKeys("environment", ["auth.otp.allowSignIn"]);
    assert.equal((await project.getConfig()).auth.otp.allowSignIn, false);
    await project.pushConfig({ "auth.otp.allowSignIn": true }, { source });
    await project.updatePushedConfig({ "teams.allowClientTeamCreation": true });
    assert.deepEqual(await project.getConfigOverride("branch"), { "auth.otp.allowSignIn": true, "teams.allowClientTeamCreation": true });
    assert.deepEqual({ ...await project.getPushedConfigSource() }, source);
    await project.unlinkPushedConfigSource();
    assert.deepEqual({ ...await project.getPushedConfigSource() }, { type: "unlinked" });
    await project.replaceConfigOverride("branch", {});
    assert.equal((await project.getConfig()).auth.otp.allowSignIn, false);
    const [error, ...others] = await project.getProductionModeErrors();
    assert.match(error.message, /localhost/i);
    assert.deepEqual(others, []);
    await project.delete();
    assert.equal(await it.read(), undefined);
  });
}

for (const type of OWNERS) {
  test(`${type}: a project is created, listed and transferred`, skips(type), async () => {
    const { user, project, read } = await owned(type);
    assert.equal((await read()).displayName, "Notes");
    const team = await user.createTeam({ displayName: "Weavers" });
    await user.transferProject(project.id, team.id);
    assert.equal((await read()).ownerTeamId, team.id);
  });
}
