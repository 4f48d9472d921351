// Permissions in teams and in the project: an administrator defines them, a server grants them, and
// users see those they have.

import assert from "node:assert/strict";
import { test } from "node:test";

import { throwsCode, version, world } from "../support/world.js";

const w = world();
const ids = (list) => list.map(({ id }) => id).sort();

test("an administrator defines, changes and deletes permissions", async () => {
  const admin = w.admin();
  const before = ids(await admin.listTeamPermissionDefinitions());
  assert.ok(before.includes("team_admin") && before.includes("$update_team"));
  await admin.createTeamPermissionDefinition({ id: "read", description: "Reads", containedPermissionIds: [] });
  await admin.createTeamPermissionDefinition({ id: "write", description: "Writes", containedPermissionIds: ["read"] });
  const write = (await admin.listTeamPermissionDefinitions()).find(({ id }) => id === "write");
  assert.deepEqual([write.description, write.containedPermissionIds], ["Writes", ["read"]]);
  await throwsCode(
    admin.createTeamPermissionDefinition({ id: "read", description: "Reads", containedPermissionIds: [] }),
    "PERMISSION_ID_ALREADY_EXISTS",
  );
  await throwsCode(admin.updateTeamPermissionDefinition("read", { containedPermissionIds: ["nothing"] }), "CONTAINED_PERMISSION_NOT_FOUND");
  await admin.updateTeamPermissionDefinition("write", { description: "Writes all", containedPermissionIds: [] });
  assert.equal((await admin.listTeamPermissionDefinitions()).find(({ id }) => id === "write").description, "Writes all");
  if (version !== "2.8.77") {
    const page = await admin.listTeamPermissionDefinitionsPaginated({ limit: 3 });
    assert.deepEqual([page.items.length, typeof page.nextCursor], [3, "string"]);
    const rest = await admin.listTeamPermissionDefinitionsPaginated({ limit: 100, cursor: page.nextCursor });
    assert.deepEqual([rest.items.length, rest.nextCursor], [before.length + 2 - 3, null]);
  }
  await admin.deleteTeamPermissionDefinition("read");
  await admin.deleteTeamPermissionDefinition("write");
  assert.deepEqual(ids(await admin.listTeamPermissionDefinitions()), before);
});

test("a server grants and revokes permissions in a team, and the user sees them", async () => {
  const [admin, server, ada] = [w.admin(), w.server(), await w.signedUp()];
  await admin.createTeamPermissionDefinition({ id: "see", description: "Sees", containedPermissionIds: [] });
  await admin.createTeamPermissionDefinition({ id: "edit", description: "Edits", containedPermissionIds: ["see", "$update_team"] });
  const team = await server.createTeam({ displayName: "Engines" });
  await team.addUser(ada.user.id);
  const user = await server.getUser(ada.user.id);
  await user.grantPermission(team, "edit");
  assert.deepEqual(ids(await user.listPermissions(team, { recursive: false })), ["edit", "team_member"]);
  assert.equal(await user.hasPermission(team, "see"), true);
  const own = await ada.user.getTeam(team.id);
  assert.equal(await ada.user.hasPermission(own, "see"), true);
  await own.update({ displayName: "Looms" });
  assert.deepEqual(
    (await server.listTeamMemberPermissions?.(team.id, { recursive: false }))?.map(({ permissionId }) => permissionId).sort() ?? ["edit", "team_member"],
    ["edit", "team_member"],
  );
  await user.revokePermission(team, "edit");
  assert.equal(await user.hasPermission(team, "see"), false);
  await throwsCode(own.update({ displayName: "x" }), "TEAM_PERMISSION_REQUIRED");
  await throwsCode(user.grantPermission(team, "nothing"), "PERMISSION_NOT_FOUND");
});

test("a permission of the project is granted without a team", async () => {
  const [admin, server, ada] = [w.admin(), w.server(), await w.signedUp()];
  await admin.createProjectPermissionDefinition({ id: "audit", description: "Audits", containedPermissionIds: [] });
  assert.deepEqual(ids(await admin.listProjectPermissionDefinitions()), ["audit"]);
  const user = await server.getUser(ada.user.id);
  await user.grantPermission("audit");
  assert.equal(await user.hasPermission("audit"), true);
  assert.deepEqual(ids(await ada.user.listPermissions()), ["audit"]);
  await user.revokePermission("audit");
  assert.deepEqual(await user.listPermissions(), []);
  await throwsCode(user.grantPermission("team_admin"), "WRONG_PERMISSION_SCOPE");
  await admin.updateProjectPermissionDefinition("audit", { description: "All audits" });
  await admin.deleteProjectPermissionDefinition("audit");
  assert.deepEqual(await admin.listProjectPermissionDefinitions(), []);
});
