// A user of each type that the SDK has, for tests of members that several types share.

import { configure } from "./gateway.js";
import { PASSWORD, newAddress, ok } from "./world.js";

/**
 * The types of users: which app (client or server) returns them, whether they belong to the project
 * `internal`, and how to get them otherwise.
 */
export const USER_TYPES = {
  CurrentUser: { app: "client" },
  CurrentServerUser: { app: "server" },
  CurrentInternalUser: { app: "client", isInternal: true },
  CurrentInternalServerUser: { app: "server", isInternal: true },
  ServerUser: { get: (server, id) => server.getUser(id) },
  ServerTeamUser: { get: memberOf },
};

/** The types of users obtained by a server or signed in on one, who may change everything. */
export const SERVER_TYPES = Object.keys(USER_TYPES).filter((type) => type.includes("Server"));
/** The types of signed-in users. */
export const CURRENT_TYPES = Object.keys(USER_TYPES).filter((type) => type.startsWith("Current"));

/** Why tests of `internal`'s users are skipped, if they are. */
export const skips = (type) => ({
  skip: USER_TYPES[type].isInternal && process.env.DEPLOYMENT ? "the project internal of a deployment belongs to its operator" : false,
});

async function memberOf(server, id) {
  const team = await server.createTeam({ displayName: "Members" });
  await team.addUser(id);
  return (await team.listUsers()).find((user) => user.id === id);
}

/** The keys of a user's project, by the user's type. */
function keysOf({ gateway }, type) {
  if (!USER_TYPES[type].isInternal) return { project: gateway, keys: {} };
  const { url, internalClientKey: publishableClientKey, internalServerKey: secretServerKey, internalAdminKey: superSecretAdminKey } = gateway;
  return { project: { url, projectId: "internal", superSecretAdminKey }, keys: { projectId: "internal", publishableClientKey, secretServerKey } };
}

/** Changes settings of both projects with users. */
export async function configureAll(w, config) {
  await configure(w.gateway, config);
  if (!process.env.DEPLOYMENT) await configure(keysOf(w, "CurrentInternalUser").project, { sign_up_enabled: true, ...config });
}

/**
 * A new account with a password: `user` of this type, a server app of its project, the signed-in
 * app, and `read`, which gets it again from the server.
 */
export async function personOf(w, type) {
  const { app: kind = "client", get } = USER_TYPES[type];
  const { keys } = keysOf(w, type);
  const [server, app] = [w.server({ ...keys, tokenStore: null }), w[kind](keys)];
  const email = newAddress();
  ok(await app.signUpWithCredential({ email, password: PASSWORD, noVerificationCallback: true, noRedirect: true }));
  const own = await app.getUser({ or: "throw" });
  const user = get ? await get(server, own.id) : own;
  return { user, own, app, server, email, keys, read: () => server.getUser(own.id) };
}
