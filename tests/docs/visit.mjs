// Somebody uses an app that signs its users in with Gatelet, as its guide says:
//
//     node visit.mjs APP CLIENT --denied=TEXT [--private=PATH] [--renews]
//     node visit.mjs CLIENT --program
//
// APP is the app's URL, CLIENT the name that the consent page shows, and TEXT what the app shows to
// a user who does not consent. PATH is a page that needs a sign-in, to which the app returns. With
// `--renews`, the app has refresh tokens, in all tabs. With `--program`, each line of the standard
// input is a link that a program has printed to sign in with. A line is printed after each return.

import assert from "node:assert/strict";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { launch } from "../sdk/browser/chromium.js";
import { textsOf } from "../hosted/support/world.js";
import { TIMEOUT_MILLIS } from "../sdk/support/until.js";

const flag = { type: "boolean", default: false };
const { positionals, values: { denied, private: privatePage, renews, program } } = parseArgs({
  allowPositionals: true,
  options: { denied: { type: "string" }, private: { type: "string", default: "/" }, renews: flag, program: flag },
});
const [client, app] = positionals.toReversed();
const [email, password] = [`barbara.${Date.now()}@example.com`, "correct horse battery"];
const texts = textsOf("en");
// Where the browser returns to.
let host;
let hostname;
/** Expects the browser to return to an app, or to the program that has printed a link. */
const returnsTo = (url) => {
  ({ host, hostname } = new URL(new URL(url).searchParams.get("redirect_uri") ?? url));
};
const browser = await launch();
const page = await (await browser.newContext({ locale: "en" })).newPage();
try {
  page.setDefaultTimeout(TIMEOUT_MILLIS);
  if (renews) await page.clock.install();
  const complaints = [];
  page.on("pageerror", (error) => complaints.push(`${error}`));
  // Browsers report every refusal's status as an error, too.
  const isStatus = (text) => text.startsWith("Failed to load resource: the server responded with a status of 4");
  page.on("console", (message) => message.type() === "error" && !isStatus(message.text()) && complaints.push(`${message.text()} at ${page.url()}`));
  page.on("response", (response) => response.status() >= 500 && complaints.push(`${response.status()} ${response.url()}`));
  const control = (name) => page.getByRole("link", { name, exact: true }).or(page.getByRole("button", { name, exact: true }));
  const press = (name) => control(name).click();
  const type = (label, text) => page.getByLabel(label, { exact: true }).fill(text);
  const shows = (text) => page.getByText(text).first().waitFor();
  const isInApp = () => page.waitForURL((url) => url.host === host);

  /** Opens a page of the app; begins a sign-in unless the app does so itself. */
  async function begin(path) {
    await page.goto(`${new URL(path, app)}`);
    if (new URL(page.url()).host === host) await press("Sign in");
    await page.waitForURL((url) => url.host !== host);
  }
  /** Decides on the consent page, which names the client and the host that follows. */
  async function decide(name) {
    await control(name).waitFor();
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

  /** Ten minutes later, the app has renewed its tokens, which another tab shares. */
  async function isRenewed() {
    const tab = await page.context().newPage();
    await tab.goto(app);
    await tab.getByText(email).waitFor();
    const renewal = page.waitForResponse((response) => response.url().endsWith("/oauth2/token"));
    await page.clock.fastForward("10:00");
    const response = await renewal;
    const sent = new URLSearchParams(response.request().postData());
    const { refresh_token } = await response.json();
    assert.equal(sent.get("grant_type"), "refresh_token");
    assert.ok(refresh_token && refresh_token !== sent.get("refresh_token"), "refresh tokens rotate");
    await isShown();
    return tab;
  }
  async function signUp() {
    await press(texts.sign_up.link);
    await type(texts.field.email, email);
    await type(texts.field.password, password);
    await press(texts.sign_up.submit);
  }
  /** Goes to each link of a program, signs up at the first one, and returns. */
  async function usesProgram() {
    let isSignedUp = false;
    // A program's own page may show a picture from the web.
    await page.route(/^https:/, (route) => route.fulfill({ status: 204 }));
    for await (const link of createInterface({ input: process.stdin })) {
      returnsTo(link);
      await page.goto(link);
      if (!isSignedUp) await signUp();
      isSignedUp = true;
      await decide(texts.authorize.allow);
      console.log("returned");
    }
  }
  /** Signs up, refuses, allows, signs out and in. */
  async function usesApp() {
    returnsTo(app);
    await begin("/");
    await signUp();
    await decide(texts.authorize.deny);
    await shows(denied);
    await begin("/");
    await decide(texts.authorize.allow);
    await isShown();

    const tab = renews && (await isRenewed());
    await press("Sign out");
    await control("Sign in").waitFor();
    assert.equal(new URL(page.url()).host, host);
    assert.ok(!(await page.innerText("body")).includes(email), "the app no longer shows the user");
    if (tab) await tab.getByRole("button", { name: "Sign in", exact: true }).waitFor();

    await begin(privatePage);
    await type(texts.field.email, email);
    await type(texts.field.password, password);
    await page.keyboard.press("Enter");
    await decide(texts.authorize.allow);
    assert.equal(new URL(page.url()).pathname, privatePage);
    await isShown();
  }

  await (program ? usesProgram() : usesApp());
  assert.deepEqual(complaints, []);
} catch (error) {
  console.error(`at ${page.url()}:\n${await page.innerText("body")}`);
  throw error;
} finally {
  await browser.close();
}
