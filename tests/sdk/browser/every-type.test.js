// Passkeys with each type of app and user. Even the types for servers can register and use passkeys
// in a browser.

import assert from "node:assert/strict";
import { test } from "node:test";

import { configureAll } from "../support/people.js";
import { PASSWORD, newAddress, world } from "../support/world.js";
import { device } from "./passkeys.js";
import { stage } from "./stage.js";

const w = world();
const here = stage(w, {
  folder: new URL("every-type/", import.meta.url),
  prepare: async () => void (await configureAll(w, { passkey_enabled: true, allow_localhost: true })),
});

/** The keys of a type of app in a project, and the type of its user. */
function keysOf(type, isInternal) {
  const { secretServerKey, superSecretAdminKey, internalClientKey, internalServerKey } = w.gateway;
  const own = isInternal ? { projectId: "internal", publishableClientKey: internalClientKey, secretServerKey: internalServerKey } : { secretServerKey };
  if (type === "StackClientApp") delete own.secretServerKey;
  return type === "StackAdminApp" ? { ...own, superSecretAdminKey } : own;
}

/** A page with a device and the apps. */
async function visitor(t) {
  const context = await here.browser.newContext();
  t.after(() => context.close());
  const { page } = await device(context);
  const errors = [];
  page.on("pageerror", (error) => errors.push(`${error}`));
  await page.goto(here.site.url);
  await page.waitForSelector("[data-ready]");
  return { page, errors };
}

const APPS = {
  CurrentUser: ["StackClientApp"],
  CurrentServerUser: ["StackServerApp"],
  "CurrentServerUser of an administrator": ["StackAdminApp"],
  CurrentInternalUser: ["StackClientApp", true],
  CurrentInternalServerUser: ["StackServerApp", true],
};

for (const [user, [type, isInternal]] of Object.entries(APPS)) {
  test(`${user}: a passkey is registered and signs in`, async (t) => {
    const { page, errors } = await visitor(t);
    const seen = await page.evaluate(async ([type, keys, email, password]) => {
      const app = window.appOf(type, keys);
      await app.signUpWithCredential({ email, password, noVerificationCallback: true, noRedirect: true });
      const user = await app.getUser({ or: "throw" });
      const registered = await user.registerPasskey({ hostname: location.hostname });
      await app.signOut();
      const nobody = await app.getUser();
      const signedIn = await app.signInWithPasskey();
      const now = await app.getUser();
      return { registered: registered.status, nobody, signedIn: signedIn.status, isSame: now?.id === user.id, has: now?.passkeyAuthEnabled };
    }, [type, keysOf(type, isInternal), newAddress(), PASSWORD]);
    assert.deepEqual(seen, { registered: "ok", nobody: null, signedIn: "ok", isSame: true, has: true });
    assert.deepEqual(errors, []);
  });
}

test("ServerTeamUser: a passkey is registered for a member of a team", async (t) => {
  const { user } = await w.signedUp();
  const { page, errors } = await visitor(t);
  const seen = await page.evaluate(async ([keys, id]) => {
    const app = window.appOf("StackServerApp", keys);
    const team = await app.createTeam({ displayName: "Members" });
    await team.addUser(id);
    const [member] = await team.listUsers();
    const { status } = await member.registerPasskey({ hostname: location.hostname });
    return { status, has: (await app.getUser(id)).passkeyAuthEnabled };
  }, [keysOf("StackServerApp"), user.id]);
  assert.deepEqual(seen, { status: "ok", has: true });
  assert.deepEqual(errors, []);
});
