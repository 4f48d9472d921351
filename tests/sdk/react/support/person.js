// A user with a separate browser. Everything that goes wrong on a page is recorded as a complaint:
// errors in the console, uncaught errors, failed or rejected requests, requests to other hosts, and
// alerts.

import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { statusOf } from "../../browser/chromium.js";
import { describe } from "../../browser/visit.js";
import { TIMEOUT_MILLIS, until } from "../../support/until.js";

const PICTURES = process.env.PICTURES;
const WIDTHS = [360, 1280];
/** The hosts contacted by the SDK itself, with the files served instead. */
const THIRD_PARTIES = new Map([
  // The script of the payments tab, which is not shown.
  ["js.stripe.com", new URL("stripe.js", import.meta.url)],
  // The worker that shrinks profile pictures.
  ["cdn.jsdelivr.net", new URL("../node_modules/browser-image-compression/dist/browser-image-compression.js", import.meta.url)],
]);
const OWN = new Set(["localhost", "127.0.0.1"]);

export class Person {
  complaints = [];
  #expected = [];
  #tolerated = [];
  /** Whether the page has asked to end the session. */
  #isLeaving = false;

  static async arrive(t, browser, site) {
    const it = new Person();
    it.site = site;
    it.context = await browser.newContext({ viewport: { width: 1280, height: 900 }, permissions: [] });
    t.after(async () => {
      if (!t.passed && it.page) await describe(t, it.page, it.complaints);
      await it.context.close();
      it.check("the end of the test");
    });
    await it.context.addInitScript(rememberSecrets);
    await it.context.route(
      (url) => THIRD_PARTIES.has(url.hostname),
      (route, request) => route.fulfill({ path: fileURLToPath(THIRD_PARTIES.get(new URL(request.url()).hostname)), contentType: "text/javascript" }),
    );
    it.page = await it.context.newPage();
    it.page.setDefaultTimeout(TIMEOUT_MILLIS);
    it.#listen();
    return it;
  }

  #listen() {
    const { page, complaints } = this;
    page.on("pageerror", (error) => complaints.push(`an uncaught error: ${error.stack ?? error}`));
    page.on("dialog", (dialog) => {
      complaints.push(`an alert: ${dialog.message()}`);
      dialog.dismiss();
    });
    page.on("console", (message) => {
      // Requests that the service rejects are checked when their responses arrive.
      if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) complaints.push(`the console: ${message.text()}`);
    });
    page.on("request", (request) => {
      const { protocol, hostname, pathname } = new URL(request.url());
      const sent = `${request.method()} ${pathname}`;
      // A refresh does not start a session, no matter which of the two operations it uses.
      const refreshes = sent.endsWith("/refresh") || request.postData()?.includes("grant_type=refresh_token");
      if (sent.startsWith("POST /api/v1/auth/") && !refreshes) this.#isLeaving = false;
      if (sent === "DELETE /api/v1/auth/sessions/current" || sent === "DELETE /api/v1/users/me") this.#isLeaving = true;
      if (protocol.startsWith("http") && !OWN.has(hostname) && !THIRD_PARTIES.has(hostname)) complaints.push(`asked ${request.url()}`);
    });
    page.on("requestfailed", (request) => {
      // When a page is left, its requests are aborted.
      const why = request.failure()?.errorText;
      if (why !== "net::ERR_ABORTED") complaints.push(`${request.method()} ${request.url()} failed: ${why}`);
    });
    page.on("response", (response) => {
      const status = statusOf(response);
      if (status < 400) return;
      const what = `${status} ${response.request().method()} ${new URL(response.url()).pathname}`;
      // Requests that the page was still making when the session ended.
      if (this.#isLeaving && what.startsWith("401 GET ")) return;
      const at = this.#expected.findIndex((expected) => what.startsWith(expected));
      if (at < 0 && this.#tolerated.some((tolerated) => what.startsWith(tolerated))) return;
      if (at < 0) complaints.push(what);
      else this.#expected.splice(at, 1);
    });
  }

  /** Expects an error response in the next step: status, method and start of the path. */
  expects(answer) {
    this.#expected.push(answer);
  }

  /** Accepts an error response from now on, without requiring it. */
  mayGet(answer) {
    this.#tolerated.push(answer);
  }

  /** Asserts that nothing went wrong, and that all expected error responses were received. */
  check(where) {
    assert.deepEqual(this.complaints, [], where);
    assert.deepEqual(this.#expected, [], where);
  }

  async open(path) {
    await this.page.goto(`${this.site.url}${path}`);
  }

  button(name) {
    return this.page.getByRole("button", { name, exact: true });
  }

  async click(name) {
    await this.button(name).click();
  }

  /** Waits until a text is visible. */
  async sees(text) {
    await this.page.getByText(text, { exact: typeof text === "string" }).filter({ visible: true }).first().waitFor();
  }

  async isAt(path) {
    await this.until(() => {
      const { pathname, hash } = new URL(this.page.url());
      return `${pathname}${hash}` === path;
    }, path);
  }

  /**
   * Polls for a condition: a navigation may be aborted by another one and then never ends.
   */
  async until(isTrue, what) {
    await until(isTrue, what).catch(async (error) => {
      assert.fail(`${error.message}; at ${this.page.url()}: ${await this.page.innerText("body")} ${this.complaints}`);
    });
  }

  /** Waits until the home page shows this account. */
  async is(who) {
    await this.isAt("/");
    await this.page.locator("#who", { hasText: who }).waitFor();
  }

  async signUp(email, password) {
    await this.open("/handler/sign-up");
    await this.enterNew(email, password);
  }

  /** Fills in the sign-up page. */
  async enterNew(email, password) {
    await this.page.getByRole("tab", { name: "Email & Password" }).click();
    await this.page.fill("#email", email);
    await this.page.fill("#password", password);
    await this.page.fill("#repeat-password", password);
    await this.picture("sign-up");
    await this.click("Sign Up");
  }

  async signIn(email, password) {
    await this.open("/handler/sign-in");
    await this.enter(email, password);
  }

  /** Fills in the sign-in page. */
  async enter(email, password) {
    await this.page.getByRole("tab", { name: "Email & Password" }).click();
    await this.page.fill("#email", email);
    await this.page.fill("#password", password);
    await this.click("Sign In");
  }

  /** Opens a tab of the account settings. */
  async settings(tab) {
    await this.open("/handler/account-settings");
    // The button of a team begins with the letter in its avatar.
    await this.button(new RegExp(`${tab}$`)).click();
  }

  /** Waits until the person has left this path's page. */
  async leaves(path) {
    await this.until(() => new URL(this.page.url()).pathname !== path, `not at ${path}`);
  }

  /** Changes and saves the only field of the section with this title. */
  async rewrite(title, text) {
    const section = this.section(title);
    await section.getByRole("button").click();
    await section.getByRole("textbox").fill(text);
    await section.getByRole("button", { name: "Save", exact: true }).click();
    await section.getByText(text, { exact: true }).waitFor();
  }

  /**
   * The section of the account settings with this title: the innermost block with the title and a
   * control.
   */
  section(title) {
    const { page } = this;
    return page.locator("div").filter({ visible: true, has: page.getByText(title, { exact: true }) }).filter({ has: page.locator("button, img, [class*=cursor-pointer]") }).last();
  }

  /** Uploads a picture through a section's only avatar, and waits until it is saved. */
  async upload(title, picture) {
    const chosen = this.page.waitForEvent("filechooser");
    await this.section(title).locator(".cursor-pointer").click();
    await (await chosen).setFiles({ name: "picture.png", mimeType: "image/png", buffer: picture });
    const saved = this.page.waitForResponse((response) => response.request().method() === "PATCH");
    await this.click("Save");
    await saved;
    await this.button("Save").waitFor({ state: "detached" });
  }

  /** Invites an address on a team's page. */
  async invite(email) {
    await this.page.getByPlaceholder("Email", { exact: true }).filter({ visible: true }).fill(email);
    await this.click("Invite User");
    await this.inRow(email).waitFor();
  }

  /** The table row that contains this text. */
  inRow(text) {
    return this.page.getByRole("row").filter({ visible: true, hasText: text });
  }

  /** Chooses an action in the menu of a row. */
  async act(row, action) {
    await this.inRow(row).getByRole("button").click();
    await this.page.getByRole("menuitem", { name: action }).click();
  }

  /** The secret last generated by the page for a second factor. */
  async secret() {
    return Buffer.from(await this.page.evaluate(() => globalThis.lastSecret));
  }

  /** New recovery codes, requested like an app; no page of the SDK does so. */
  async recoveryCodes() {
    return await this.page.evaluate(async () => {
      const { baseUrl, projectId, publishableClientKey } = await (await fetch("/config.json")).json();
      const { accessToken } = await (await globalThis.app.getUser()).getAuthJson();
      const headers = {
        "x-stack-access-type": "client",
        "x-stack-project-id": projectId,
        "x-stack-publishable-client-key": publishableClientKey,
        "x-stack-access-token": accessToken,
      };
      const answer = await fetch(`${baseUrl}/api/v1/auth/mfa/recovery-codes`, { method: "POST", headers });
      return (await answer.json()).codes;
    });
  }

  /**
   * Takes screenshots of the current page, or of the part around `target` if given, in light and
   * dark, on phone and desktop.
   */
  async picture(name, target) {
    if (!PICTURES) return;
    await mkdir(PICTURES, { recursive: true });
    const { page } = this;
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      for (const colorScheme of ["light", "dark"]) {
        await page.emulateMedia({ colorScheme });
        await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
        await page.getByText("Loading …").waitFor({ state: "detached" });
        await page.locator(".animate-pulse").filter({ visible: true }).first().waitFor({ state: "detached" });
        await target?.scrollIntoViewIfNeeded();
        await page.screenshot({ path: join(PICTURES, `${name}-${width}-${colorScheme}.png`), animations: "disabled" });
      }
    }
    await page.emulateMedia({ colorScheme: "light" });
  }
}

/**
 * Runs in the page: keeps a second factor's secret, which the page shows only as a picture.
 */
function rememberSecrets() {
  const draw = crypto.getRandomValues.bind(crypto);
  crypto.getRandomValues = (array) => {
    draw(array);
    if (array.length === 20) globalThis.lastSecret = [...array];
    return array;
  };
}
