// A person with a separate browser, who finds everything on the pages by its text.

import assert from "node:assert/strict";

import { describe } from "../../sdk/browser/visit.js";
import { TIMEOUT_MILLIS } from "../../sdk/support/until.js";
import { textsOf } from "./world.js";

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
/** A text with these values in its placeholders. */
export const filled = (text, values) => Object.entries(values).reduce((text, [name, value]) => text.replaceAll(`{${name}}`, value), text);

/** A fresh browser; `language` is what it asks for. */
export async function visitor(t, w, { language = "en", ...options } = {}) {
  const context = await w.browser.newContext({ locale: language, ...options });
  // Tries another script without building the gateway.
  if (process.env.HOSTED_SCRIPT) await context.route("**/handler/*.js*", (route) => route.fulfill({ path: process.env.HOSTED_SCRIPT, contentType: "text/javascript" }));
  const page = await context.newPage();
  page.setDefaultTimeout(Number(process.env.HOSTED_TIMEOUT_MILLIS ?? TIMEOUT_MILLIS));
  const it = { context, page, language, complaints: [], visited: [], texts: textsOf(language) };
  t.after(async () => {
    if (!t.passed) await describe(t, page, it.complaints);
    await context.close();
  });
  watch(it);
  return Object.assign(it, reading(it, w), doing(it, w));
}

/** Notes all errors, and every URL that the browser went to. */
function watch({ page, complaints, visited }) {
  page.on("pageerror", (error) => complaints.push(`${error}`));
  // Browsers also report the status of every rejected request as an error.
  const isStatus = (text) => text.startsWith("Failed to load resource: the server responded with a status of 4");
  page.on("console", (message) => message.type() === "error" && !isStatus(message.text()) && complaints.push(message.text()));
  page.on("request", (request) => request.isNavigationRequest() && visited.push(request.url()));
  page.on("response", (response) => response.status() >= 500 && complaints.push(`${response.status()} ${response.url()}`));
}

function reading(it, w) {
  const { page, texts } = it;
  return {
    /** Waits for a page with this title. */
    sees: async (title) => {
      await page.getByRole("heading", { level: 1, name: title, exact: true }).waitFor();
      assert.equal(await page.locator("html").getAttribute("lang"), it.language);
    },
    /** Waits for a text. */
    reads: (text) => page.getByText(text, { exact: true }).first().waitFor(),
    /** Waits until a session has begun, after which a person without an app goes to the account. */
    hasSignedIn: () => page.waitForURL((url) => url.pathname === "/handler/account-settings"),
    /** Asserts that the browser is signed in to this account. */
    is: async (email) => {
      await page.goto(w.url("sign-in"));
      await page.getByRole("button", { name: filled(texts.sign_in.continue_as, { name: email }), exact: true }).waitFor();
    },
    /** Asserts that nobody is signed in. */
    isNobody: async () => {
      await page.goto(w.url("sign-in"));
      await page.getByRole("heading", { level: 1 }).waitFor();
      assert.equal(await page.locator("button[value=continue]").count(), 0, "nobody is signed in");
    },
    check: () => assert.deepEqual(it.complaints, []),
  };
}

function doing(it, w) {
  const { context, page, texts } = it;
  return {
    open: (name, query) => page.goto(w.url(name, query)),
    /** Types into the field with this label. */
    types: (label, text) => page.getByLabel(label, { exact: true }).fill(text),
    /** Presses the button with this text, perhaps with a mark for the last way. */
    presses: (text) => page.getByRole("button", { name: new RegExp(`^${escaped(text)}( ${escaped(texts.sign_in.last_used)})?$`) }).click(),
    follows: (text) => page.getByRole("link", { name: text, exact: true }).click(),
    /** Signs up with a password. */
    signsUp: async (email, password) => {
      await it.open("sign-up");
      await it.types(texts.field.email, email);
      await it.types(texts.field.password, password);
      await it.presses(texts.sign_up.submit);
    },
    /** Enters address and password. */
    signsIn: async (email, password) => {
      await it.open("sign-in");
      // For people who are signed in, the form is collapsed.
      for (const fold of await page.locator("summary").all()) await fold.click();
      await it.types(texts.field.email, email);
      await it.types(texts.field.password, password);
      await it.presses(texts.sign_in.submit);
    },
    /** Asks for a code by email. */
    asksForCode: async (email) => {
      await it.open("sign-in");
      await it.types(texts.field.email, email);
      await it.presses(texts.sign_in.send_code);
      await it.sees(texts.code.heading);
    },
    signsOut: async () => {
      await it.open("sign-out");
      await it.presses(texts.sign_out.submit);
      await it.sees(texts.sign_out.done_title);
      await it.isNobody();
    },
    /** The cookie of this name, without its prefix and project. */
    cookie: async (name, origin = w.origin) => (await context.cookies(origin)).find((cookie) => cookie.name.startsWith(`gatelet-${name}-`)),
  };
}
