// An app in a browser, which uses the SDK with cookies, cross-origin calls and emailed links.

import assert from "node:assert/strict";
import { test } from "node:test";
import { linkOf } from "../support/inbox.js";
import { PASSWORD, newAddress, world } from "../support/world.js";
import { stage } from "./stage.js";

const w = world();
const here = stage(w);

/**
 * A fresh browser with the app open; `check` fails if a page had an error or contacted another
 * host.
 */
async function visitor(t) {
  const context = await here.browser.newContext();
  const page = await context.newPage();
  const complaints = [];
  page.on("pageerror", (error) => complaints.push(`${error}`));
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("request", (request) => {
    const { protocol, hostname } = new URL(request.url());
    if (protocol.startsWith("http") && hostname !== "localhost") complaints.push(`asked ${request.url()}`);
  });
  t.after(() => context.close());
  const it = {
    context,
    page,
    open: async (url = here.site.url) => {
      await page.goto(`${url}`);
      await it.ready();
    },
    ready: () => page.waitForSelector("body[data-ready]"),
    who: () => page.textContent("#who"),
    sessions: () => page.$$eval("#sessions li", (items) => items.map((item) => item.firstChild.textContent)),
    submit: async (form, fields) => {
      for (const [name, value] of Object.entries(fields)) await page.fill(`#${form} [name=${name}]`, value);
      await page.click(`#${form} button`);
    },
    isShown: (selector, text) => page.waitForFunction(([selector, text]) => document.querySelector(selector)?.textContent === text, [selector, text]),
    check: () => assert.deepEqual(complaints, []),
  };
  await it.open();
  return it;
}

/** A browser with a new account, verified with an emailed link. */
async function member(t) {
  const [it, email] = [await visitor(t), newAddress()];
  await it.submit("sign-up", { email, password: PASSWORD });
  await it.isShown("#who", `${email} unverified`);
  await it.open(linkOf(await w.inbox.next(email)).url);
  return { ...it, email };
}

/** The same user's other browser, signed in with a link. */
async function byLink(t, email) {
  const it = await visitor(t);
  await it.submit("send-link", { email });
  await it.isShown("#send-link output", "sent");
  const { url } = linkOf(await w.inbox.next(email));
  assert.equal(url.pathname, "/sign-in-by-link");
  await it.page.goto(`${url}`);
  await it.isShown("#who", `${email} verified`);
  await it.ready();
  return it;
}

test("a sign-up persists across pages, and the emailed link verifies the address", async (t) => {
  const [it, email] = [await visitor(t), newAddress()];
  assert.equal(await it.who(), "nobody");
  await it.submit("sign-up", { email, password: PASSWORD });
  await it.isShown("#who", `${email} unverified`);
  await it.open();
  assert.equal(await it.who(), `${email} unverified`);
  assert.ok((await it.context.cookies()).some(({ name }) => name.includes(`-refresh-${w.gateway.projectId}`)));

  const { url } = linkOf(await w.inbox.next(email));
  assert.equal(`${url.origin}${url.pathname}`, `${here.site.url}/verify`);
  await it.open(url);
  assert.equal(await it.who(), `${email} verified`);
  it.check();
});

test("an emailed link signs in in another browser", async (t) => {
  const first = await member(t);
  const second = await byLink(t, first.email);
  await second.open();
  assert.equal(await second.who(), `${first.email} verified`);
  second.check();
});

test("a wrong password is reported on the page, and the right one signs in", async (t) => {
  const { email } = await member(t);
  const it = await visitor(t);
  await it.submit("sign-in", { email, password: "not the password" });
  await it.isShown("#problem", "EMAIL_PASSWORD_MISMATCH");
  await it.open();
  assert.equal(await it.who(), "nobody");
  await it.submit("sign-in", { email, password: PASSWORD });
  await it.isShown("#who", `${email} verified`);
  it.check();
});

test("the list marks the session of this browser, and a revoked browser is signed out", async (t) => {
  const [first, second] = [await member(t), await visitor(t)];
  await second.submit("sign-in", { email: first.email, password: PASSWORD });
  await second.isShown("#who", `${first.email} verified`);
  await second.ready();
  assert.deepEqual(await second.sessions(), ["this browser", "another browser"]);
  await first.open();
  assert.deepEqual(await first.sessions(), ["another browser", "this browser"]);

  await second.page.click("#sessions li:nth-child(2) button");
  await second.page.waitForFunction(() => document.querySelectorAll("#sessions li").length === 1);
  assert.deepEqual(await second.sessions(), ["this browser"]);
  second.check();
  // Removes the access token, as if its ten minutes had passed.
  await first.context.clearCookies({ name: /-access$/ });
  await first.open();
  assert.equal(await first.who(), "nobody");
});

test("signing out removes the session cookies", async (t) => {
  const it = await member(t);
  await it.page.click("#sign-out");
  await it.isShown("#who", "nobody");
  await it.open();
  assert.equal(await it.who(), "nobody");
  assert.deepEqual((await it.context.cookies()).filter(({ name }) => /-(refresh|access)/.test(name)).map(({ name }) => name), []);
  it.check();
});
