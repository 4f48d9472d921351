// A project that requires verified addresses, where users without one end up on the onboarding
// page, and a project whose sign-up is disabled.

import assert from "node:assert/strict";
import { test } from "node:test";

import { configure } from "../../support/gateway.js";
import { PASSWORD, newAddress, world } from "../support/world.js";

const w = world({ config: { require_email_verification: true } });

/**
 * Signs up with an unverified address. The sign-up page then redirects home, where no one is signed
 * in, or to the onboarding page, depending on whether it reads the new user first.
 */
async function signUpUnverified(it, email) {
  await it.signUp(email, PASSWORD);
  await it.leaves("/handler/sign-up");
  await it.page.waitForLoadState("networkidle");
}

test("a new user has to verify the address first", async (t) => {
  const it = await w.arrive(t);
  const email = newAddress();
  await signUpUnverified(it, email);
  await it.open("/handler/sign-in");
  await it.sees("Please check your email inbox");
  assert.equal(new URL(it.page.url()).pathname, "/handler/onboarding");
  await it.picture("onboarding");
  await w.linkTo(email, "/handler/email-verification");
  await it.click("Resend verification email");
  const link = await w.linkTo(email, "/handler/email-verification");
  it.check("onboarding");
  await it.page.goto(link);
  await it.click("Verify");
  await it.click("Go home");
  await it.is(`${email} verified`);
  it.check("verified");
});

test("a mistyped address is changed on the onboarding page", async (t) => {
  const it = await w.arrive(t);
  const [wrong, right] = [newAddress("wrong"), newAddress("right")];
  await signUpUnverified(it, wrong);
  await it.open("/handler/sign-in");
  await it.sees("Please check your email inbox");
  await it.click("change");
  await it.page.getByPlaceholder("Enter your email").fill(right);
  await it.click("Continue");
  await it.sees(right);
  await it.click("Resend verification email");
  await it.page.goto(await w.linkTo(right, "/handler/email-verification"));
  await it.click("Verify");
  await it.click("Go home");
  await it.is(`${right} verified`);
  it.check("another address");
});

test("the sign-up page says that sign-up is disabled", async (t) => {
  await configure(w.gateway, { sign_up_enabled: false });
  t.after(() => configure(w.gateway, { sign_up_enabled: true }));
  const it = await w.arrive(t);
  // The SDK's analytics request an anonymous user, which is also a sign-up.
  it.mayGet("400 POST /api/v1/auth/anonymous/sign-up");
  await it.open("/handler/sign-up");
  await it.sees("Sign up for new users is not enabled at the moment.");
  await it.picture("sign-up-disabled");
  await it.click("Sign in");
  await it.sees("Sign in to your account");
  it.check("closed sign-up");
});
