// An authenticator app: it is enrolled in the account settings, required at sign-in, lost, and
// switched off.

import assert from "node:assert/strict";
import { test } from "node:test";

import { shownBy } from "../../support/authenticator.js";
import { PASSWORD, world } from "../support/world.js";

const w = world();

/** A code that the app does not show. */
const wrong = async (secret) => ((await shownBy(secret)) === "000000" ? "000001" : "000000");

test("a second factor is enrolled, required at sign-in, and switched off", async (t) => {
  const it = await w.member(t);
  await it.settings("Emails & Auth");
  await it.click("Enable MFA");
  await it.page.getByAltText("TOTP multi-factor authentication QR code").filter({ visible: true }).waitFor();
  const field = it.page.getByPlaceholder("123456").filter({ visible: true });
  const secret = await it.secret();
  await it.picture("mfa-enrol");
  await field.fill(await wrong(secret));
  await it.sees("Incorrect code. Please try again.");
  await field.fill(await shownBy(secret));
  await it.sees("Multi-factor authentication is currently enabled.");
  it.check("enrolment");

  const other = await w.arrive(t);
  other.expects("400 POST /api/v1/auth/password/sign-in");
  await other.signIn(it.email, PASSWORD);
  await other.sees("Enter the six-digit code from your authenticator app");
  await other.picture("mfa");
  const code = other.page.locator("input[data-input-otp]");
  other.expects("400 POST /api/v1/auth/mfa/sign-in");
  await code.fill(await wrong(secret));
  await other.sees("Invalid TOTP code");
  await code.fill(await shownBy(secret));
  await other.is(`${it.email} verified`);
  other.check("sign-in with a second factor");

  const codes = await other.recoveryCodes();
  assert.equal(codes.length, 10);
  const stranded = await w.arrive(t);
  stranded.expects("400 POST /api/v1/auth/password/sign-in");
  await stranded.signIn(it.email, PASSWORD);
  await stranded.sees("Enter the six-digit code from your authenticator app");
  await stranded.page.locator("input[data-input-otp]").fill(codes[0].toLowerCase());
  await stranded.is(`${it.email} verified`);
  stranded.check("sign-in with a recovery code");
  const again = await w.arrive(t);
  again.expects("400 POST /api/v1/auth/password/sign-in");
  await again.signIn(it.email, PASSWORD);
  await again.sees("Enter the six-digit code from your authenticator app");
  again.expects("400 POST /api/v1/auth/mfa/sign-in");
  await again.page.locator("input[data-input-otp]").fill(codes[0]);
  await again.sees("Invalid TOTP code");
  again.check("a recovery code again");

  await other.settings("Emails & Auth");
  await other.click("Disable MFA");
  await other.sees("Multi-factor authentication is currently disabled.");
  const third = await w.arrive(t);
  await third.signIn(it.email, PASSWORD);
  await third.is(`${it.email} verified`);
  third.check("sign-in without a second factor");
  other.check("switching it off");
});
