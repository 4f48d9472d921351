// Teams: users create, switch, change, join and leave them, and invite others to them.

import assert from "node:assert/strict";
import { test } from "node:test";

import { PICTURE, newAddress, world } from "../support/world.js";

const w = world();

/** Creates the team and waits for its page, which opens once the team is selected. */
async function created(it) {
  await it.click("Create");
  await it.until(() => /^#team-(?!creation$)/.test(new URL(it.page.url()).hash), "the team's page");
}

/** A user with a team. */
async function founder(t, name) {
  const it = await w.member(t);
  await it.settings("Create a team");
  await it.page.locator("#displayName").filter({ visible: true }).fill(name);
  await it.picture("team-creation");
  await created(it);
  return it;
}

test("a team is created, changed and switched to", async (t) => {
  const it = await founder(t, "Engines");
  await it.settings("Engines");
  await it.sees("Team display name");
  await it.picture("team");
  await it.rewrite("Team user name", "Countess");
  await it.rewrite("Team display name", "Looms");
  await it.upload("Team profile image", PICTURE);
  it.check("the team's page");
  await it.settings("Looms");
  const members = it.page.getByRole("row").filter({ visible: true });
  await members.filter({ hasText: "Countess" }).waitFor();
  it.check("the changed team");

  await it.settings("Create a team");
  await it.page.locator("#displayName").filter({ visible: true }).fill("Mills");
  await created(it);
  await it.open("/");
  const switcher = it.page.getByRole("combobox");
  await switcher.getByText("Mills").waitFor();
  await switcher.click();
  await it.picture("team-switcher");
  // Taking a screenshot resizes the window, which closes an open list, so the list is opened again.
  await it.page.keyboard.press("Escape");
  await switcher.click();
  await it.page.getByRole("option", { name: "Looms" }).click();
  await switcher.getByText("Looms").waitFor();
  await it.page.reload();
  await switcher.getByText("Looms").waitFor();
  await switcher.click();
  await it.page.getByRole("option", { name: "No team" }).click();
  await switcher.getByText("No team").waitFor();
  await it.open("/team");
  await it.sees("no team");
  await switcher.click();
  await it.page.getByRole("option", { name: "Mills" }).click();
  await it.page.locator("#selected", { hasText: "Mills" }).waitFor();
  await it.isAt("/team");
  it.check("the switchers");
});

test("an invited user joins by link, and leaves again", async (t) => {
  const it = await founder(t, "Engines");
  const guest = await w.member(t, newAddress("guest"));
  await it.settings("Engines");
  await it.invite(guest.email);
  await it.invite("nobody@example.com");
  await it.picture("invitations");
  await it.inRow("nobody@example.com").getByRole("button").click();
  await it.inRow("nobody@example.com").waitFor({ state: "detached" });
  it.check("inviting");

  const link = await w.linkTo(guest.email, "/handler/team-invitation");
  await guest.page.goto(link);
  await guest.sees("You are invited to join Engines");
  await guest.picture("team-invitation");
  await guest.click("Join");
  await guest.sees("You have successfully joined Engines");
  await guest.click("Go home");
  await guest.is(`${guest.email} verified`);
  guest.check("joining");
  await guest.settings("Engines");
  await guest.sees("Leave Team");
  assert.equal(await guest.page.getByText("Team display name").filter({ visible: true }).count(), 0, "a member does not rename the team");
  await guest.picture("team-of-a-member");
  await it.settings("Engines");
  await it.page.getByRole("row").filter({ visible: true }).nth(2).waitFor();
  it.check("the members");

  await guest.click("Leave team");
  await guest.click("Leave");
  await guest.button(/Engines$/).waitFor({ state: "detached" });
  guest.check("leaving");
  guest.expects("409 POST /api/v1/team-invitations/accept/check-code");
  await guest.page.goto(link);
  await guest.sees("Used Team Invitation Link");
  guest.expects("404 POST /api/v1/team-invitations/accept/check-code");
  await guest.open(`/handler/team-invitation?code=${"a".repeat(45)}`);
  await guest.sees("Invalid Team Invitation Link");
  guest.check("links that no longer work");
});

test("an invited person without an account signs up on the way", async (t) => {
  const it = await founder(t, "Engines");
  const email = newAddress("new");
  await it.settings("Engines");
  await it.invite(email);
  const guest = await w.arrive(t);
  const link = await w.linkTo(email, "/handler/team-invitation");
  await guest.page.goto(link);
  await guest.sees("Sign in or create an account to join the team.");
  await guest.click("Sign in");
  await guest.sees("Sign in to your account");
  await guest.page.fill("#email", email);
  await guest.click("Send email");
  await guest.sees("Enter the code from your email");
  await guest.page.locator("input[data-input-otp]").fill(await w.codeTo(email));
  await guest.sees("You are invited to join Engines");
  await guest.click("Join");
  await guest.sees("You have successfully joined Engines");
  guest.check("joining as a new user");
});
