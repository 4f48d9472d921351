// The sign-in of a command-line tool, which the user confirms on a page.

import assert from "node:assert/strict";
import { test } from "node:test";

import { asClient } from "../support/gateway.js";
import { ok, refused, world } from "../support/world.js";

const w = world();
const APP = "http://localhost:3000";

/** Sends a page's request to complete the sign-in of a link. */
async function complete(link, body) {
  const login_code = new URL(link).searchParams.get("login_code");
  const response = await asClient(w.gateway, "POST", "/auth/cli/complete", { login_code, ...body });
  assert.equal(response.status, 200, await response.clone().text());
}

test("a tool gets a session of its own once the page confirms", async () => {
  const { app, user } = await w.signedUp();
  const { refreshToken } = await user.currentSession.getTokens();
  let confirmed;
  const promptLink = (link) => {
    assert.ok(link.startsWith(`${APP}/handler/cli-auth-confirm?login_code=`), link);
    confirmed = complete(link, { refresh_token: refreshToken });
  };
  const token = ok(await w.client().promptCliLogin({ appUrl: APP, promptLink, waitTimeMillis: 50, expiresInMillis: 60_000 }));
  await confirmed;
  assert.notEqual(token, refreshToken);
  const tool = w.returning(token);
  assert.equal((await tool.getUser()).id, user.id);
  assert.equal((await user.getActiveSessions()).length, 2);

  await tool.signOut({ redirectUrl: APP }).catch(() => undefined);
  assert.equal(await w.returning(token).getUser(), null);
  assert.equal((await app.getUser()).id, user.id);
});

test("a tool that nobody confirms gives up after its attempts", async () => {
  const result = await w.client().promptCliLogin({ appUrl: APP, promptLink: () => {}, waitTimeMillis: 10, maxAttempts: 3 });
  refused(result, "CLI_AUTH_ERROR");
});

test("a tool whose sign-in was refused gets the error for an expired sign-in", async () => {
  let denied;
  const promptLink = (link) => {
    denied = complete(link, { mode: "deny" });
  };
  refused(await w.client().promptCliLogin({ appUrl: APP, promptLink, waitTimeMillis: 50 }), "CLI_AUTH_EXPIRED_ERROR");
  await denied;
});
