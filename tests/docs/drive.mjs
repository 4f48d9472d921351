// A user of examples/react's app in a browser: `node drive.mjs APP SERVER INBOX`, with the page key
// in GATELET_PAGE_KEY.

import assert from "node:assert/strict";
import { launch } from "../sdk/browser/chromium.js";
import { Inbox, linkOf } from "../sdk/support/inbox.js";

const [app, server, mails] = process.argv.slice(2);
const [email, password] = [`grace.${Date.now()}@example.com`, "correct horse battery"];
const inbox = new Inbox({ mails, pageKey: process.env.GATELET_PAGE_KEY });
const browser = await launch();
try {
  const page = await browser.newPage();
  const complaints = [];
  page.on("pageerror", (error) => complaints.push(`${error}`));
  page.on("request", (request) => {
    const { protocol, hostname } = new URL(request.url());
    if (protocol.startsWith("http") && hostname !== "localhost") complaints.push(`asked ${request.url()}`);
  });
  const press = (name) => page.getByRole("button", { name, exact: true }).click();
  const fill = async (secret) => {
    await page.fill("[name=email]", email);
    await page.fill("[name=password]", secret);
  };
  /** Presses a button that signs up, in or out, and waits until the SDK has loaded a page. */
  const pressAndLoad = (name) => Promise.all([page.waitForEvent("load"), press(name)]);
  const shows = (selector, text) =>
    page.waitForFunction(([selector, text]) => document.querySelector(selector)?.textContent.includes(text), [selector, text]);

  await page.goto(app);
  await fill(password);
  await pressAndLoad("Sign up");
  await shows("#who", `${email} unverified`);

  await page.goto(`${linkOf(await inbox.next(email)).url}`);
  await press("Verify my address");
  await shows("#verified", "The address is verified.");
  await page.goto(app);
  await shows("#who", `${email} verified`);

  await press("Ask the server");
  await shows("#answer", `Hello, ${email}`);

  await pressAndLoad("Sign out");
  await page.waitForSelector("form");
  await fill("wrong horse battery");
  await press("Sign in");
  await page.waitForFunction(() => document.querySelector("[role=alert]").textContent);
  await fill(password);
  await pressAndLoad("Sign in");
  await shows("#who", `${email} verified`);
  await page.reload();
  await shows("#who", `${email} verified`);
  assert.deepEqual(complaints, []);

  // Without a token signed by the project, there are no notes.
  for (const authorization of [undefined, "Bearer", "Bearer x", "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJtZSJ9."]) {
    const answer = await fetch(`${server}/notes`, { headers: authorization ? { authorization } : {} });
    assert.equal(answer.status, 401, authorization);
  }
} finally {
  await browser.close();
}
