// Somebody uses an app that signs its users in with Gatelet, as its guide says:
//
//     node visit.mjs APP CLIENT --denied=TEXT [--private=PATH] [--asks]
//
// APP is the app's URL, CLIENT the name that the consent page shows, and TEXT what the app shows to
// a user who does not consent. PATH is a page that needs a sign-in, to which the app returns. With
// `--asks`, Gatelet asks before it signs the user out.

import assert from "node:assert/strict";
import { parseArgs } from "node:util";
import { launch } from "../sdk/browser/chromium.js";
import { textsOf } from "../hosted/support/world.js";
import { TIMEOUT_MILLIS } from "../sdk/support/until.js";

const { positionals: [app, client], values: { denied, private: privatePage, asks } } = parseArgs({
  allowPositionals: true,
  options: { denied: { type: "string" }, private: { type: "string", default: "/" }, asks: { type: "boolean", default: false } },
});
const [email, password] = [`barbara.${Date.now()}@example.com`, "correct horse battery"];
const texts = textsOf("en");
const { host, hostname } = new URL(app);
const browser = await launch();
const page = await (await browser.newContext({ locale: "en" })).newPage();
try {
  page.setDefaultTimeout(TIMEOUT_MILLIS);
  const complaints = [];
  page.on("pageerror", (error) => complaints.push(`${error}`));
  // Browsers report every refusal's status as an error, too.
  const isStatus = (text) => text.startsWith("Failed to load resource: the server responded with a status of 4");
  page.on("console", (message) => message.type() === "error" && !isStatus(message.text()) && complaints.push(`${message.text()} at ${page.url()}`));
  page.on("response", (response) => response.status() >= 500 && complaints.push(`${response.status()} ${response.url()}`));
  const follow = (name) => page.getByRole("link", { name, exact: true }).click();
  const press = (name) => page.getByRole("button", { name, exact: true }).click();
  const type = (label, text) => page.getByLabel(label, { exact: true }).fill(text);
  const shows = (text) => page.getByText(text).first().waitFor();
  const isInApp = () => page.waitForURL((url) => url.host === host);

  /** Opens a page of the app; begins a sign-in unless the app does so itself. */
  async function begin(path) {
    await page.goto(`${new URL(path, app)}`);
    if (new URL(page.url()).host === host) await follow("Sign in");
    await page.waitForURL((url) => url.host !== host);
  }
  /** Decides on the consent page, which names the client and the host that follows. */
  async function decide(name) {
    await page.getByRole("button", { name, exact: true }).waitFor();
    const text = await page.innerText("main");
    assert.ok(text.includes(client) && text.includes(hostname), text);
    await press(name);
    await isInApp();
  }
  async function isShown() {
    await shows(email);
    await page.reload();
    await shows(email);
  }

  await begin("/");
  await follow(texts.sign_up.link);
  await type(texts.field.email, email);
  await type(texts.field.password, password);
  await press(texts.sign_up.submit);
  await decide(texts.authorize.deny);
  await shows(denied);
  await begin("/");
  await decide(texts.authorize.allow);
  await isShown();

  await page.getByRole("link", { name: "Sign out", exact: true }).or(page.getByRole("button", { name: "Sign out", exact: true })).click();
  if (asks) {
    await shows(texts.authorize.sign_out.replace("{client}", client).replace("{name}", email));
    await press(texts.sign_out.submit);
  }
  await page.getByRole("link", { name: "Sign in", exact: true }).waitFor();
  assert.equal(new URL(page.url()).host, host);
  assert.ok(!(await page.innerText("body")).includes(email), "the app no longer shows the user");

  await begin(privatePage);
  await type(texts.field.email, email);
  await type(texts.field.password, password);
  await page.keyboard.press("Enter");
  await decide(texts.authorize.allow);
  assert.equal(new URL(page.url()).pathname, privatePage);
  await isShown();
  assert.deepEqual(complaints, []);
} catch (error) {
  console.error(`at ${page.url()}:\n${await page.innerText("body")}`);
  throw error;
} finally {
  await browser.close();
}
