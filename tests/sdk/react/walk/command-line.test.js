// The page where users confirm the sign-in of a command-line tool.

import assert from "node:assert/strict";
import { test } from "node:test";

import { asClient } from "../../support/gateway.js";
import { PASSWORD, newAddress, world } from "../support/world.js";

const w = world();

/** Sends a request like the tool, outside the browser. */
async function tool(path, body, headers) {
  const response = await asClient(w.gateway, "POST", path, body, headers);
  return response.json();
}

const link = ({ login_code }) => `/handler/cli-auth-confirm?login_code=${login_code}`;

/** The address of the user whose session the tool fetched. */
async function userOf({ polling_code }) {
  const { status, refresh_token } = await tool("/auth/cli/poll", { polling_code });
  assert.equal(status, "success");
  const { access_token } = await tool("/auth/sessions/current/refresh", {}, { "x-stack-refresh-token": refresh_token });
  return JSON.parse(Buffer.from(access_token.split(".")[1], "base64url")).email;
}

test("a signed-in user authorises a tool by a click, once", async (t) => {
  const it = await w.member(t);
  const started = await tool("/auth/cli", {});
  await it.open(link(started));
  await it.sees("Authorize CLI Application");
  await it.picture("cli-confirm");
  assert.equal((await tool("/auth/cli/poll", { polling_code: started.polling_code })).status, "waiting");
  await it.click("Authorize");
  await it.sees("CLI Authorization Successful");
  assert.equal(await userOf(started), it.email);
  it.check("the page of a tool");

  it.expects("400 POST /api/v1/auth/cli/complete");
  await it.open(link(started));
  await it.click("Authorize");
  await it.sees("Authorization Failed");
  it.check("a link that was used");
});

test("a visitor signs in first, and then the tool is authorised", async (t) => {
  const member = await w.member(t);
  const it = await w.arrive(t);
  const started = await tool("/auth/cli", {});
  await it.open(link(started));
  await it.click("Authorize");
  await it.sees("Sign in to your account");
  await it.enter(member.email, PASSWORD);
  await it.sees("CLI Authorization Successful");
  assert.equal(await userOf(started), member.email);
  it.check("the page of a tool after a sign-in");
});

test("a visitor takes over the anonymous user of a tool and signs up", async (t) => {
  const it = await w.arrive(t);
  const nobody = await tool("/auth/anonymous/sign-up", {});
  const started = await tool("/auth/cli", { anon_refresh_token: nobody.refresh_token });
  await it.open(link(started));
  await it.click("Authorize");
  await it.sees("Create a new account");
  const email = newAddress();
  await it.enterNew(email, PASSWORD);
  await it.sees("CLI Authorization Successful");
  assert.equal(await userOf(started), email);
  it.check("the page of a tool after a sign-up");
});
