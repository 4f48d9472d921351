// Everyday use of the console: opening it, searching, the outbox, mistakes, copied commands, the
// keyboard, the API reference, sign-up rules, the quick start, and the content page.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { consoleOf, go, heading, PASSWORD } from "../support/console.js";

const run = promisify(execFile);
const it = consoleOf();
const CLIPBOARD = { permissions: ["clipboard-read", "clipboard-write"] };
const copied = (page) => page.evaluate(() => navigator.clipboard.readText());

test("the printed link opens the first project, and its token stays in this browser", async (t) => {
  await it.started;
  const visited = await it.open(t, "/console");
  const { page } = visited;
  await heading(page, "Development");
  assert.equal(page.url(), `${it.gateway.url}${it.home}`);
  assert.equal(await page.evaluate(() => document.cookie), "");
  assert.match(await page.evaluate(() => localStorage.getItem("gatelet.console-token")), /^[\w-]{43}$/);
  assert.ok(!JSON.stringify(await page.evaluate(() => ({ ...localStorage, ...sessionStorage }))).includes("sak_"), "keys are not stored");
  assert.ok(!(await page.content()).includes(it.gateway.superSecretAdminKey));
  await page.goto(`${it.gateway.url}/`);
  await heading(page, "Development");
  visited.check();
  // A link on another site neither signs the user out nor replaces the token.
  await page.goto("about:blank");
  await page.goto(`${it.gateway.url}/console#${"x".repeat(43)}`);
  await heading(page, "Development");
});

test("without the token, the console only offers to sign in", async (t) => {
  await it.started;
  const { page } = await it.open(t, "/console");
  await heading(page, "Development");
  await page.evaluate(() => localStorage.clear());
  await page.goto(`${it.gateway.url}${it.home}/users`);
  await heading(page, "Sign in");
  assert.match(await page.innerText("main"), /gateway pages/);
  // The cookie alone does not give access to the keys, because servers on other ports also receive
  // it.
  assert.equal(await page.evaluate(async () => (await fetch("/console/session")).status), 403);
});

test("users are searched and ordered, page by page, and the URL keeps both", async (t) => {
  await it.started;
  // Users are created one after another, because a gateway on a slow machine would refuse to hash
  // 60 passwords at the same time.
  for (let index = 0; index < 60; index++) await it.newUser({ display_name: index === 7 ? "Rare Bird" : undefined });
  const visited = await it.open(t, `${it.home}/users`);
  const { page } = visited;
  const rows = page.locator(".rows tbody tr");
  await rows.first().waitFor();
  assert.equal(await rows.count(), 50);
  await page.getByRole("button", { name: "Load more" }).click();
  await page.waitForFunction(() => document.querySelectorAll(".rows tbody tr").length > 50);
  await page.getByRole("searchbox").fill("rare b");
  await page.waitForFunction(() => document.querySelectorAll(".rows tbody tr").length === 1);
  assert.match(await rows.innerText(), /Rare Bird/);
  await page.getByLabel("Order").selectOption("Oldest first");
  await page.waitForURL(/q=rare\+b&order=signed_up_at$/);
  await page.reload();
  await page.locator(".rows tr", { hasText: "Rare Bird" }).waitFor();
  assert.equal(await page.getByRole("searchbox").inputValue(), "rare b");
  await page.getByRole("searchbox").fill("nobody has this name");
  await page.getByRole("heading", { name: "Nothing found" }).waitFor();
  visited.check();
});

test("a search finds beginnings of words first, and parts of words on demand", async (t) => {
  await it.started;
  for (const name of ["Zebra One", "Azebra", "Giraffe"]) await it.newUser({ display_name: name });
  const { page } = await it.open(t, `${it.home}/users`);
  const names = async () => (await page.locator(".rows tbody tr").allInnerTexts()).map((text) => text.match(/A?zebra( One)?/i)?.[0]);
  await page.getByRole("searchbox").fill("ZEBRA");
  await page.getByRole("button", { name: "Also search inside words" }).waitFor();
  assert.deepEqual(await names(), ["Zebra One"]);
  assert.equal(await page.getByLabel("Order").locator("option:checked").innerText(), "Best matches first");
  await page.getByRole("button", { name: "Also search inside words" }).click();
  await page.locator(".rows tr", { hasText: "Azebra" }).waitFor();
  assert.deepEqual(await names(), ["Zebra One", "Azebra"], "each user once");
  // If no word begins with the text, the console immediately searches for parts of words.
  await page.getByRole("searchbox").fill("ebra one");
  await page.waitForFunction(() => document.querySelectorAll(".rows tbody tr").length === 1);
  assert.deepEqual(await names(), ["Zebra One"]);
  await page.getByRole("searchbox").fill("zebra");
  await page.getByLabel("Order").selectOption("Oldest first");
  await page.waitForFunction(() => document.querySelectorAll(".rows tbody tr").length === 2);
  assert.deepEqual(await names(), ["Zebra One", "Azebra"]);
  await page.getByRole("searchbox").fill("");
  await page.waitForFunction(() => document.querySelectorAll(".rows tbody tr").length > 2);
});

test("an email appears in the outbox without a reload, and the focus stays", async (t) => {
  await it.started;
  const user = await it.newUser();
  const sent = (subject) => it.call("POST", "/emails/send-email", { user_ids: [user.id], subject, html: "<p>x</p>" });
  await sent("Here already");
  const visited = await it.open(t, `${it.home}/outbox`);
  const { page } = visited;
  const row = page.locator(".rows a.row", { hasText: "Here already" });
  await row.focus();
  await sent("Just sent");
  await page.locator(".rows a.row", { hasText: "Just sent" }).waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Here already");
  visited.check();
});

test("what the API rejects stays in the form, with the API's error beside the field", async (t) => {
  await it.started;
  const { page } = await it.open(t, `${it.home}/users?new=1`);
  await page.getByLabel("Email address", { exact: true }).fill("no address");
  await page.getByLabel("Name").fill("Kept");
  await page.getByRole("button", { name: "Create user" }).click();
  await page.locator(".field .problem", { hasText: "must be an email address" }).waitFor();
  const email = page.getByLabel("Email address", { exact: true });
  assert.deepEqual(
    [await email.inputValue(), await email.getAttribute("aria-invalid"), await page.getByLabel("Name").inputValue()],
    ["no address", "true", "Kept"],
  );
  assert.ok(await email.evaluate((element) => element === document.activeElement), "the field has the focus");
  // An error that concerns more than one field is shown below the form, together with its code.
  const { primary_email: taken } = await it.newUser();
  await email.fill(taken);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Create user" }).click();
  await page.getByRole("link", { name: "USER_EMAIL_ALREADY_EXISTS" }).waitFor();
  assert.equal(await page.getByLabel("Name").inputValue(), "Kept");
  // The console asks for confirmation when the user leaves the form.
  await page.getByRole("navigation", { name: "Project" }).getByRole("link", { name: "Teams" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Stay on this page" }).click();
  assert.equal(await page.getByLabel("Name").inputValue(), "Kept");
});

test("when the API does not answer, the page says so and can try again", async (t) => {
  await it.started;
  const { page } = await it.open(t, `${it.home}/teams`);
  await page.route("**/api/v1/users**", (route) => route.abort());
  await page.getByRole("navigation", { name: "Project" }).getByRole("link", { name: "Users" }).click();
  await page.getByText("The service is not responding.").waitFor();
  await page.unroute("**/api/v1/users**");
  await it.newUser();
  await page.getByRole("button", { name: "Try again" }).click();
  await page.locator(".rows a.row").first().waitFor();
});

test("a copied command does what the page did, and contains no secret", async (t) => {
  await it.started;
  const user = await it.newUser({ display_name: "O'Neil" });
  const { page } = await it.open(t, `${it.home}/users/${user.id}`, CLIPBOARD);
  await page.locator(".head").getByRole("button", { name: "Copy as curl" }).click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  const command = await copied(page);
  assert.ok(!command.includes(it.gateway.superSecretAdminKey));
  const env = { ...process.env, GATELET_SUPER_SECRET_ADMIN_KEY: it.gateway.superSecretAdminKey };
  const { stdout } = await run("bash", ["-c", `${command} --silent`], { env });
  assert.equal(JSON.parse(stdout).display_name, "O'Neil");
  await page.getByLabel("Name").fill("O'Brien");
  await page.locator("form").getByRole("button", { name: "Copy as curl" }).click();
  await page.locator("form").getByRole("button", { name: "Copied" }).waitFor();
  assert.equal((await it.call("GET", `/users/${user.id}`)).display_name, "O'Neil", "copying changes nothing");
  await run("bash", ["-c", `${await copied(page)} --silent --fail`], { env });
  assert.equal((await it.call("GET", `/users/${user.id}`)).display_name, "O'Brien");
});

test("the search, a row, tabs and a form work by keyboard alone", async (t) => {
  await it.started;
  const user = await it.newUser({ display_name: "By Keyboard" });
  const { page } = await it.open(t, `${it.home}/users`);
  await page.locator(".rows a.row").first().waitFor();
  const focused = () => page.evaluate(() => document.activeElement.textContent.trim());
  await page.keyboard.press("/");
  await page.keyboard.type("By Keyboard");
  await page.locator(".rows tr", { hasText: "By Keyboard" }).waitFor();
  await page.waitForFunction(() => document.querySelectorAll(".rows tbody tr").length === 1);
  while (!(await focused()).includes(user.primary_email)) await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await heading(page, "By Keyboard");
  assert.equal(await focused(), "By Keyboard", "the heading of the new page has the focus");
  while ((await focused()) !== "Restrict or delete") await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle), "solid");
  await page.keyboard.press("Enter");
  await page.getByLabel("Restricted by an administrator").waitFor();
  await page.getByLabel("Restricted by an administrator").focus();
  await page.keyboard.press("Space");
  await page.keyboard.press("Tab");
  await page.keyboard.type("Typed");
  await page.keyboard.press("Enter");
  await page.locator(".head .state", { hasText: "Restricted" }).waitFor();
  assert.equal((await it.call("GET", `/users/${user.id}`)).restricted_by_admin_reason, "Typed");
});

test("an operation of the reference runs with the project's access", async (t) => {
  await it.started;
  const { page } = await it.open(t, `${it.home}/api`);
  await page.getByRole("searchbox").fill("creates a team");
  await page.getByRole("link", { name: "Creates a team", exact: true }).click();
  await heading(page, "Creates a team");
  await page.getByLabel("Body").fill('{"display_name": "By reference"}');
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Send" }).click();
  await page.getByText("Succeeded").waitFor();
  assert.ok((await it.call("GET", "/teams?query=By+reference")).items.length === 1);
});

test("an operation of the reference runs as a server and as a signed-in user", async (t) => {
  await it.started;
  const user = await it.newUser();
  const { access_token: token } = await it.call("POST", "/auth/sessions", { user_id: user.id });
  const { page } = await it.open(t, `${it.home}/api/users-me-read`, CLIPBOARD);
  await page.locator("main h1").waitFor();
  const send = () => page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByLabel("Access", { exact: true }).selectOption("client");
  await send();
  await page.locator(".state", { hasText: /HTTP 4\d\d/ }).waitFor();
  await page.getByLabel("Access token of the user").fill(token);
  await send();
  await page.getByText("Succeeded").waitFor();
  assert.match(await page.locator("form .code").innerText(), new RegExp(user.id));
  await page.getByRole("button", { name: "Copy as curl" }).click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  const curl = await copied(page);
  assert.match(curl, /access-token: \$GATELET_ACCESS_TOKEN/);
  assert.match(curl, /publishable-client-key: \$GATELET_PUBLISHABLE_CLIENT_KEY/);
  assert.ok(!curl.includes(token));

  await page.goto(`${it.gateway.url}${it.home}/api/projects-api-key-list`);
  await page.getByLabel("Access", { exact: true }).selectOption("server");
  await send();
  await page.locator(".note.failed").waitFor();
  await page.getByLabel("Access", { exact: true }).selectOption("admin");
  await send();
  await page.getByText("Succeeded").waitFor();
});

test("the tester of sign-up rules decides as the API does", async (t) => {
  await it.started;
  await it.call("PATCH", "/internal/projects/current", {
    config: {
      sign_up_rules: [
        { id: "no-example", enabled: true, priority: 5, condition: 'emailDomain == "example.com"', action: { type: "reject" } },
      ],
    },
  });
  const { page } = await it.open(t, `${it.home}/sign-up-rules?part=test`);
  await page.getByRole("button", { name: "Test", exact: true }).click();
  await page.locator(".state", { hasText: "Is rejected" }).waitFor();
  await page.getByText("because of the rule no-example").waitFor();
  await page.getByLabel("Email address").fill("ada@example.org");
  await page.getByRole("button", { name: "Test", exact: true }).click();
  await page.locator(".state", { hasText: "May sign up" }).waitFor();
  await it.call("PATCH", "/internal/projects/current", { config: { sign_up_rules: [] } });
});

test("the quick start hides secrets, and its commands run as printed", { timeout: 900_000 }, async (t) => {
  await it.started;
  const { page } = await it.open(t, `${it.home}/quick-start`, CLIPBOARD);
  await heading(page, "Quick start");
  const { projectId, publishableClientKey, secretServerKey, superSecretAdminKey, url } = it.gateway;
  const open = (name) => page.getByRole("navigation", { name: "Framework" }).getByRole("link", { name, exact: true }).click();
  const taken = async (block) => {
    await page.locator(".code").nth(block).getByRole("button").click();
    await page.locator(".code").nth(block).getByRole("button", { name: "Copied" }).waitFor();
    return copied(page);
  };
  const all = {};
  for (const [name, blocks] of Object.entries({ HTTP: 2, JavaScript: 3, React: 3, "Next.js": 3, "Node.js backend": 2, "Python backend": 3 })) {
    await open(name);
    await page.locator(".tabs [aria-current]", { hasText: name }).waitFor();
    const text = await page.innerText("main");
    assert.ok(text.includes(url) && text.includes(projectId), name);
    assert.ok(!text.includes(secretServerKey) && !text.includes(superSecretAdminKey), name);
    all[name] = [];
    for (let block = 0; block < blocks; block += 1) all[name].push(await taken(block));
  }
  const { stdout } = await run("bash", ["-c", `${all.HTTP[0]} --silent`]);
  const { user_id: id, access_token: token } = JSON.parse(stdout);
  const listed = await run("bash", ["-c", `${all.HTTP[1]} --silent`]);
  assert.ok(JSON.parse(listed.stdout).items.some((user) => user.id === id));
  for (const [block, expected] of [
    [1, /^[0-9a-f-]{36} ada\.\d+@example\.com false\n$/],
    [2, new RegExp(id)],
  ]) {
    const file = fileURLToPath(new URL(`../../sdk/2.8.108/quick-${process.pid}-${block}.mjs`, import.meta.url));
    await writeFile(file, all.JavaScript[block]);
    t.after(() => rm(file));
    const ran = await run("node", [file]);
    assert.match(ran.stdout, expected);
  }
  assert.ok(all.React[1].includes(`VITE_GATELET_CLIENT_KEY=${publishableClientKey}`));
  assert.ok(!all.React.join().includes(secretServerKey), "Vite would publish it");
  assert.ok(all["Next.js"][1].includes(`\nSTACK_SECRET_SERVER_KEY=${secretServerKey}`));
  const [, jwks] = all["Node.js backend"][1].match(/issuer = `(\S+)\$\{project\}`/);
  const keys = await (await fetch(`${jwks}${projectId}/.well-known/jwks.json`)).json();
  const { kid } = JSON.parse(Buffer.from(token.split(".")[0], "base64url"));
  assert.ok(keys.keys.some((key) => key.kid === kid));
  const python = await run("python3", ["-c", all["Python backend"][2]]);
  assert.match(python.stdout, new RegExp(id));
});

test("entered keys appear in the commands, and are stored nowhere", async (t) => {
  await it.started;
  await it.owner("quick@example.com");
  const { page } = await it.open(t, "/console/sign-in", CLIPBOARD);
  await page.getByLabel("Email address").fill("quick@example.com");
  await page.getByLabel("Password").fill(PASSWORD);
  await page.locator("main").getByRole("button", { name: "Sign in" }).click();
  await heading(page, "Projects");
  await page.getByLabel("Name").fill("Quick");
  await page.getByRole("button", { name: "Create project" }).click();
  await heading(page, "API keys");
  await go(page, "Quick start");
  await page.getByText("Fill in your keys").click();
  await page.getByLabel("Client key").fill("pck_typed_by_hand");
  await page.getByLabel("Server key").fill("ssk_typed_by_hand");
  await page.getByRole("button", { name: "Use these keys" }).click();
  await page.locator(".code", { hasText: "pck_typed_by_hand" }).waitFor();
  assert.ok(!(await page.innerText("main")).includes("ssk_typed_by_hand"));
  await page.locator(".code").nth(1).getByRole("button").click();
  await page.locator(".code").nth(1).getByRole("button", { name: "Copied" }).waitFor();
  assert.match(await copied(page), /ssk_typed_by_hand/);
  const stored = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
  assert.doesNotMatch(stored, /typed_by_hand/);
});

test("the content page shows what is published, and where", async (t) => {
  await it.started;
  const { page, check } = await it.open(t, `${it.home}/content`);
  await heading(page, "Content");
  const posts = (await (await fetch(`${it.gateway.url}/api/v1/blog-posts`)).json()).data;
  await page.getByRole("heading", { name: `${posts.length} posts` }).waitFor();
  for (const post of posts) {
    const link = page.getByRole("link", { name: post.title, exact: true });
    assert.equal(await link.getAttribute("href"), post.url);
    assert.equal((await fetch(post.url)).status, 200);
  }
  assert.equal(
    await page.locator(".rows time").first().getAttribute("datetime"),
    new Date(posts[0].publishedAt).toISOString().replace(".000", ""),
  );
  check();
});
