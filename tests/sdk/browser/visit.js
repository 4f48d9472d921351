// A page of the gateway in a fresh browser: the page's errors, the findings of axe-core, and the
// page's width.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/**
 * Opens a page; `check` fails if it had an error, broke its content security policy, or contacted
 * another host. With `startPage`, the browser has opened that gateway link first, like a
 * developer's.
 */
export async function visit(t, browser, url, { startPage, ...options } = {}) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const complaints = [];
  t.after(async () => {
    if (!t.passed) await describe(t, page, complaints);
    await context.close();
  });
  if (startPage) await page.goto(startPage);
  page.on("pageerror", (error) => complaints.push(`${error}`));
  // Frames must not run scripts, and browsers report each attempt as an error.
  const isOwn = (text) => !text.startsWith("Blocked script execution in");
  page.on("console", (message) => message.type() === "error" && isOwn(message.text()) && complaints.push(message.text()));
  page.on("dialog", (dialog) => {
    // A page with unsaved changes asks for confirmation before the user leaves it. The page may ask
    // even if the changes have just been saved, because it may not have noticed yet.
    if (dialog.type() === "beforeunload") return dialog.accept();
    complaints.push(`a dialog: ${dialog.message()}`);
    return dialog.dismiss();
  });
  page.on("request", (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol.startsWith("http") && origin !== new URL(url).origin) complaints.push(`asked ${request.url()}`);
  });
  await page.goto(url);
  return { context, page, complaints, check: () => assert.deepEqual(complaints, []) };
}

/** Logs what a page shows when a test has failed. */
export async function describe(t, page, complaints) {
  const text = await page.innerText("body", { timeout: 5_000 }).catch((error) => `no text: ${error.message}`);
  console.error(`at the end of "${t.name}", ${page.url()} shows:\n${text}\ncomplaints: ${JSON.stringify(complaints)}`);
}

/** Asserts that axe-core finds no violations and nothing is wider than the window. */
export async function isAccessible(page, where) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"], iframes: false }));
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join("\n")}`);
  assert.deepEqual(found, [], where);
  const [width, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(width <= window, `${where} is ${width} px wide in a window of ${window} px`);
}
