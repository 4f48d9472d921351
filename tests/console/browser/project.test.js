// A project from its creation to its deletion, with clicks only, on phone and desktop, in light and
// dark mode.

import assert from "node:assert/strict";
import { test } from "node:test";

import { confirm, consoleOf, go, heading, isAccessible, PASSWORD } from "../support/console.js";

const it = consoleOf();

for (const [width, colorScheme] of [
  [1280, "light"],
  [1280, "dark"],
  [360, "light"],
  [360, "dark"],
]) {
  test(`a project is created, used and deleted at ${width} px, ${colorScheme}`, { timeout: 900_000 }, async (t) => {
    await it.started;
    const owner = `owner.${width}.${colorScheme}@example.com`;
    await it.owner(owner);
    const visited = await it.open(t, "/console/sign-in", { colorScheme, viewport: { width, height: 800 } });
    const { page } = visited;
    const looked = (where) => isAccessible(page, `${where}, ${width} px`);

    await page.getByLabel("Email address").fill(owner);
    await page.getByLabel("Password").fill(PASSWORD);
    await page.locator("main").getByRole("button", { name: "Sign in" }).click();
    await heading(page, "Projects");
    await looked("projects");
    const name = `Shop ${width} ${colorScheme}`;
    await page.getByLabel("Name").fill(name);
    await page.getByRole("button", { name: "Create project" }).click();

    // Keys, which the console shows only once.
    await heading(page, "API keys");
    await page.getByLabel("Description").fill("Backend");
    await page.getByRole("button", { name: "Create keys" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.locator("code").nth(1).waitFor();
    const keys = await dialog.locator("code").allTextContents();
    assert.match(keys.join(" "), /^pck_\w+ ssk_\w+$/);
    await looked("new keys");
    await dialog.getByRole("button", { name: "I have saved it" }).click();
    await page.locator(".rows tr", { hasText: "Backend" }).waitFor();
    const projectId = new URL(page.url()).pathname.split("/")[2];
    const asServer = (path) =>
      fetch(`${it.gateway.url}/api/v1${path}`, {
        headers: { "x-service-access-type": "server", "x-service-project-id": projectId, "x-service-secret-server-key": keys[1] },
      });
    assert.equal((await asServer("/users")).status, 200);

    // A provider, and the URL to register with it.
    await go(page, "Providers");
    await page
      .getByRole("link", { name: "Add provider" })
      .first()
      .click()
      .catch(() => {});
    await heading(page, "Add provider");
    assert.ok((await page.innerText("main")).includes(`${it.gateway.url}/api/v1/auth/oauth/callback/google`));
    await page.getByLabel("Client id").fill("1234.apps.googleusercontent.com");
    await page.getByLabel("Client secret").fill("GOCSPX-secret");
    await page.getByRole("button", { name: "Add provider" }).click();
    await heading(page, "Providers");
    await page.locator(".rows", { hasText: "google" }).waitFor();
    await looked("providers");

    // A template with a live preview.
    await go(page, "Templates");
    await page.getByRole("link", { name: "Create template" }).first().click();
    await heading(page, "Create template");
    await page.getByLabel("Name").fill("Receipt");
    await page.getByLabel("Subject").fill("Your receipt");
    await page.getByLabel("HTML or MJML").fill('<p id="seen">Thank you, {{ variables.buyer }}</p>');
    await page.frameLocator("iframe").locator("#seen", { hasText: "Thank you, buyer" }).waitFor();
    await looked("a template");
    await page.getByRole("button", { name: "Create template" }).click();
    await heading(page, "Receipt");

    // A user.
    await go(page, "Users");
    await page.getByRole("link", { name: "Create user" }).first().click();
    await page.getByLabel("Email address", { exact: true }).fill("ada@example.com");
    await page.getByLabel("Name").fill("Ada");
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Create user" }).click();
    await heading(page, "Ada");
    const [user] = (await (await asServer("/users")).json()).items;
    assert.deepEqual(
      [user.primary_email, user.display_name, user.has_password, user.primary_email_auth_enabled],
      ["ada@example.com", "Ada", true, true],
    );

    // A team with this member, and an invitation to the team.
    await go(page, "Teams");
    await page.getByRole("link", { name: "Create team" }).first().click();
    await heading(page, "Create team");
    await page.getByLabel("Name").fill("Engines");
    await page.getByLabel("Creator").fill("ada@example.com");
    await page.getByRole("button", { name: "Create team" }).click();
    // The address is not proved, so it identifies nobody.
    await page.getByRole("alert").filter({ hasText: `so it may not be theirs: ${user.id}.` }).waitFor();
    await page.getByLabel("Creator").fill(user.id);
    await page.getByRole("button", { name: "Create team" }).click();
    await heading(page, "Engines");
    await page.locator(".rows tr", { hasText: "ada@example.com" }).waitFor();
    await looked("a team");
    await page.getByRole("link", { name: "Invitations" }).click();
    await page.getByLabel("Email address").fill("grace@example.com");
    await page.getByLabel("Page of your app").fill("http://localhost:3000/join");
    await page.getByRole("button", { name: "Invite by email" }).click();
    await page.locator(".rows tr", { hasText: "grace@example.com" }).waitFor();

    // A restriction.
    await go(page, "Users");
    await page.locator("a.row", { hasText: "ada@example.com" }).click();
    await page.getByRole("link", { name: "Restrict or delete" }).click();
    await page.getByLabel("Restricted by an administrator").check();
    await page.getByLabel("Reason").fill("Spam");
    await page.getByRole("button", { name: "Save changes" }).click();
    await page.locator(".head .state", { hasText: "Restricted" }).waitFor();
    await looked("a restricted user");
    assert.equal((await (await asServer(`/users/${user.id}`)).json()).restricted_by_admin_reason, "Spam");

    // A webhook, whose secret the console shows only once.
    await go(page, "Webhooks");
    await page.getByRole("link", { name: "Create endpoint" }).first().click();
    await page.getByLabel("URL", { exact: true }).fill("https://hooks.example.com/gatelet");
    await page.getByLabel("user.created").check();
    await page.getByRole("button", { name: "Create endpoint" }).click();
    assert.match(await page.getByRole("dialog").locator("code").textContent(), /^whsec_/);
    await page.getByRole("dialog").getByRole("button", { name: "I have saved it" }).click();
    await heading(page, "https://hooks.example.com/gatelet");
    await looked("a webhook");

    // The audit log contains an entry for each change.
    await go(page, "Audit log");
    await page.locator(".rows tr", { hasText: "webhooks-endpoint-create" }).waitFor();
    for (const operation of ["projects-api-key-create", "users-user-create", "teams-team-create", "users-user-update"])
      assert.ok(await page.locator(".rows tr", { hasText: operation }).count(), operation);
    await looked("the audit log");

    // The deletion, which requires the project's name as a confirmation.
    await go(page, "Settings");
    await page.locator("main").getByRole("link", { name: "Delete", exact: true }).click();
    await page.getByRole("button", { name: "Delete project" }).click();
    const go_ = page.getByRole("dialog").getByRole("button", { name: "Delete project" });
    assert.match(await page.getByRole("dialog").innerText(), /Deletes the project with \d+ users?/);
    await page.getByRole("dialog").getByRole("textbox").fill("Shop");
    assert.ok(await go_.isDisabled(), "a part of the name is not enough");
    await looked("the confirmation");
    await confirm(page, "Delete project", name);
    await heading(page, "Projects");
    assert.equal(await page.locator(".rows", { hasText: name }).count(), 0);
    assert.notEqual((await asServer("/users")).status, 200);
    visited.check();
  });
}
