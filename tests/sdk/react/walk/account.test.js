// The account settings: every tab, and every change that a tab allows.

import assert from "node:assert/strict";
import { test } from "node:test";

import { until } from "../../support/until.js";
import { PASSWORD, PICTURE, newAddress, world } from "../support/world.js";

const w = world();

test("name and picture are changed in the profile", async (t) => {
  const it = await w.member(t);
  await it.open("/");
  await it.page.locator("header button").first().click();
  await it.page.getByRole("menuitem", { name: "Account settings" }).click();
  await it.isAt("/handler/account-settings");
  await it.picture("settings");
  await it.settings("My Profile");
  await it.rewrite("User name", "Ada Lovelace");
  await it.picture("profile");
  await it.upload("Profile image", PICTURE);
  it.check("the profile");
  await it.open("/");
  await it.page.locator("header").getByText("Ada Lovelace").waitFor();
  const image = it.page.locator("header img").first();
  await image.waitFor();
  assert.ok(await image.evaluate((image) => image.complete && image.naturalWidth > 0), "the picture is shown");
  it.check("the picture");
});

test("addresses are added, verified, made primary, used for sign-in and removed", async (t) => {
  const it = await w.member(t);
  const added = newAddress("added");
  await it.settings("Emails & Auth");
  await it.picture("auth");
  await it.click("Add an email");
  await it.page.getByPlaceholder("Enter email").filter({ visible: true }).fill(added);
  await it.click("Add");
  await it.inRow(added).getByText("Unverified").waitFor();
  await it.page.goto(await w.linkTo(added, "/handler/email-verification"));
  await it.click("Verify");
  await it.click("Go home");
  await it.settings("Emails & Auth");
  await it.act(added, "Use for sign-in");
  await it.inRow(added).getByText("Used for sign-in").waitFor();
  await it.act(added, "Set as primary");
  await it.inRow(added).getByText("Primary").waitFor();
  await it.picture("emails");
  await it.act(it.email, "Stop using for sign-in");
  await it.inRow(it.email).getByText("Used for sign-in").waitFor({ state: "detached" });
  await it.act(it.email, "Remove");
  await it.inRow(it.email).waitFor({ state: "detached" });
  it.check("addresses");
  await it.open("/");
  await it.is(`${added} verified`);

  const other = await w.arrive(t);
  await other.signIn(added, PASSWORD);
  await other.is(`${added} verified`);
  other.check("sign-in with the added address");
});

test("a verification email is sent again", async (t) => {
  const it = await w.arrive(t);
  const email = newAddress();
  await it.signUp(email, PASSWORD);
  await it.is(`${email} unverified`);
  await w.linkTo(email, "/handler/email-verification");
  await it.settings("Emails & Auth");
  await it.act(email, "Send verification email");
  await it.page.goto(await w.linkTo(email, "/handler/email-verification"));
  await it.click("Verify");
  await it.click("Go home");
  await it.is(`${email} verified`);
  it.check("a second email");
});

test("the password is changed, and a wrong old one is rejected", async (t) => {
  const it = await w.member(t);
  await it.settings("Emails & Auth");
  await it.click("Update password");
  const fill = async (old) => {
    for (const [id, value] of [["old-password", old], ["new-password", "another horse battery"], ["repeat-password", "another horse battery"]]) {
      await it.page.locator(`#${id}`).filter({ visible: true }).fill(value);
    }
    await it.click("Update Password");
  };
  it.expects("400 POST /api/v1/auth/password/update");
  await fill("not the password");
  await it.sees("Incorrect password");
  await fill(PASSWORD);
  await it.button("Update password").waitFor();
  it.check("the password");
  const other = await w.arrive(t);
  await other.signIn(it.email, "another horse battery");
  await other.is(`${it.email} verified`);
  other.check("the new password");
});

test("a user without a password sets one, and switches codes off and on", async (t) => {
  const it = await w.arrive(t);
  const email = newAddress();
  await it.open("/handler/sign-in");
  await it.page.fill("#email", email);
  await it.click("Send email");
  await it.sees("Enter the code from your email");
  await it.page.locator("input[data-input-otp]").fill(await w.codeTo(email));
  await it.is(`${email} verified`);
  await it.settings("Emails & Auth");
  await it.sees("OTP sign-in is enabled and cannot be disabled as it is currently the only sign-in method");
  await it.click("Set password");
  await it.page.locator("#new-password").filter({ visible: true }).fill(PASSWORD);
  await it.page.locator("#repeat-password").filter({ visible: true }).fill(PASSWORD);
  await it.click("Set Password");
  await it.button("Update password").waitFor();
  await it.click("Disable OTP");
  await it.click("Disable");
  await it.click("Enable OTP");
  await it.button("Disable OTP").waitFor();
  it.check("codes");
});

test("notification settings are switched off and on, and persist", async (t) => {
  const it = await w.member(t);
  await it.settings("Notifications");
  const enabled = () => it.page.getByRole("switch", { disabled: false, includeHidden: false }).filter({ visible: true });
  await enabled().first().waitFor();
  await it.picture("notifications");
  const name = await enabled().count();
  assert.ok(name > 0, "at least one category can be switched off");
  const changed = () => it.page.waitForResponse((response) => response.request().method() === "PATCH" && response.url().includes("/emails/notification-preference/"));
  for (const [before, after] of [["true", "false"], ["false", "true"]]) {
    await it.page.reload();
    await enabled().first().waitFor();
    assert.equal(await enabled().first().getAttribute("aria-checked"), before);
    await Promise.all([changed(), enabled().first().click()]);
    await until(async () => await enabled().first().getAttribute("aria-checked") === after, `the switch says ${after}`);
  }
  it.check("notifications");
});

test("sessions are listed, one is revoked, and then all others", async (t) => {
  const it = await w.member(t);
  const others = [];
  for (let count = 0; count < 3; count += 1) {
    const other = await w.arrive(t);
    await other.signIn(it.email, PASSWORD);
    await other.is(`${it.email} verified`);
    others.push(other);
  }
  await it.settings("Active Sessions");
  const rows = it.page.getByRole("row").filter({ visible: true, hasText: "Other Session" });
  await rows.nth(2).waitFor();
  await it.picture("sessions");
  await rows.first().getByRole("button").click();
  await it.page.getByRole("menuitem", { name: "Revoke" }).click();
  await rows.nth(2).waitFor({ state: "detached" });
  await it.click("Revoke All Other Sessions");
  await it.click("Confirm");
  await rows.first().waitFor({ state: "detached" });
  await it.sees("Current Session");
  it.check("sessions");
});

test("signing out and deleting the account work in the settings", async (t) => {
  const it = await w.member(t);
  await it.settings("Settings");
  await it.page.waitForLoadState("networkidle");
  await it.click("Sign out");
  await it.leaves("/handler/account-settings");
  await it.signIn(it.email, PASSWORD);
  await it.is(`${it.email} verified`);
  await it.settings("Settings");
  await it.click("Danger zone");
  await it.click("Delete account");
  await it.picture("delete-account");
  await it.click("Delete Account");
  await it.leaves("/handler/account-settings");
  it.expects("400 POST /api/v1/auth/password/sign-in");
  await it.signIn(it.email, PASSWORD);
  await it.page.locator("form .text-red-500, form .text-destructive").first().waitFor();
  it.check("deletion");
});
