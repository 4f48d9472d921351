// Every page at three widths, light and dark, in three languages. Pages must be accessible,
// complete, usable with only a keyboard, small, and loaded from a single origin. PICTURES=folder
// keeps screenshots.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { test } from "node:test";

import { isAccessible } from "../sdk/browser/visit.js";
import { linkOf } from "../sdk/support/inbox.js";
import { PASSWORD, newAddress, world } from "./support/world.js";

const WIDTHS = [[360, 740], [768, 1024], [1280, 800]];
const SCHEMES = ["light", "dark"];
const LANGUAGES = ["en", "de", "ar-XB"];
const MAX_BYTES = 30 * 1024;
const PICTURES = process.env.PICTURES;
if (PICTURES) mkdirSync(PICTURES, { recursive: true });

const w = world({
  config: {
    magic_link_enabled: true, passkey_enabled: true, second_factor: { remember_device_days: 30 },
    oauth_providers: ["github", "discord", "spotify"].map((id) => ({ id, client_id: "an-id", client_secret: "a-secret" })),
  },
});

/** The pages: each function opens one in a language. */
const PAGES = {
  "sign-in": (it) => it.shows("sign-in"),
  "sign-in, wrong password": async (it) => {
    await it.shows("sign-in");
    await it.page.fill("#email", newAddress());
    await it.page.fill("#password", "wrong");
    await it.submits("password");
  },
  "sign-in, continue as": async (it) => {
    await it.signsInQuietly();
    await it.shows("sign-in");
  },
  "sign-in, untrusted": (it) => it.shows("sign-in", { after_auth_return_to: "https://evil.example/" }),
  "sign-up": (it) => it.shows("sign-up"),
  "sign-up, refused": async (it) => {
    const { email } = await w.person();
    await it.shows("sign-up");
    await it.page.fill("#email", email);
    await it.page.fill("#password", PASSWORD);
    await it.submits("password");
  },
  forgot: (it) => it.shows("forgot-password"),
  "forgot, sent": async (it) => {
    await it.shows("forgot-password");
    await it.page.fill("#email", "a.very.long.address.of.somebody.with.a.long.name@department.of.a.long.domain.example.com");
    await it.submits();
  },
  reset: (it) => it.shows("password-reset", { code: "x" }),
  "reset, refused": async (it) => {
    await it.shows("password-reset", { code: "x" });
    await it.page.fill("#password", "short");
    await it.submits();
  },
  code: async (it) => {
    await it.shows("sign-in");
    await it.page.fill("#email", newAddress());
    await it.submits("code");
  },
  "code, wrong": async (it) => {
    await PAGES.code(it);
    await it.page.fill("#code", "AAAAAA");
    await it.submits("enter-code");
  },
  mfa: async (it) => {
    const person = await w.person();
    await w.addApp(person);
    await it.shows("sign-in");
    await it.page.fill("#email", person.email);
    await it.page.fill("#password", PASSWORD);
    await it.submits("password");
  },
  "mfa, recovery code": async (it) => {
    await PAGES.mfa(it);
    await it.page.click("summary");
  },
  verification: (it) => it.shows("email-verification", { code: "x" }),
  "verification, refused": async (it) => {
    await it.shows("email-verification", { code: "x" });
    await it.submits("verify");
  },
  "magic link": (it) => it.shows("magic-link-callback", { code: "x" }),
  "sign-out": async (it) => {
    await it.signsInQuietly();
    await it.shows("sign-out");
  },
  "sign-out, done": (it) => it.shows("sign-out"),
  invitation: async (it) => {
    const { email } = await it.signsInQuietly();
    const team = await w.server("POST", "/teams", { display_name: "Analytical Engines" });
    await w.server("POST", "/team-invitations/send-code", { team_id: team.id, email, callback_url: w.url("team-invitation") });
    await it.shows("team-invitation", { code: linkOf(await w.inbox.next(email)).code });
  },
  "invitation, unknown": async (it) => {
    await it.signsInQuietly();
    await it.shows("team-invitation", { code: "x" });
  },
  "device, code": async (it) => {
    await it.signsInQuietly();
    await it.shows("cli-auth-confirm");
  },
  device: async (it) => {
    await it.signsInQuietly();
    const { url, projectId: client_id, publishableClientKey: client_secret } = w.gateway;
    const body = new URLSearchParams({ client_id, client_secret, verification_uri: w.url("cli-auth-confirm") });
    const { user_code } = await (await fetch(`${url}/api/v1/auth/oauth/device_authorization`, { method: "POST", body })).json();
    await it.shows("cli-auth-confirm", { user_code });
  },
  consent: (it) => it.isAskedBy(),
  "consent, own machine": (it) => it.isAskedBy({ redirect_uris: ["http://localhost/callback"] }),
  "choose account": (it) => it.isAskedBy({ is_first_party: true }, { prompt: "select_account" }),
  "authorize, expired": async (it) => {
    await it.signsInQuietly();
    await it.shows("authorize", { request: "x" });
  },
  logout: async (it) => {
    await it.signsInQuietly();
    await it.shows("logout", { client_id: (await newClient()).id });
  },
  account: async (it) => {
    await it.signsInQuietly();
    await it.shows("account-settings");
  },
  "account, apps": async (it) => {
    const person = await it.signsInQuietly();
    await w.allow(person, await newClient(), `${SCOPES.join(" ")} notes:read notes:write`, await newResources());
    await it.shows("account-settings");
    await it.page.click("#grants summary");
  },
  onboarding: async (it) => {
    await it.signsInQuietly({ primary_email_verified: false });
    await w.configure({ require_email_verification: true });
    try {
      await it.shows("onboarding");
    } finally {
      await w.configure({ require_email_verification: false });
    }
  },
  "onboarding, done": async (it) => {
    await it.signsInQuietly();
    await it.shows("onboarding");
  },
  error: (it) => it.shows("error", { errorCode: "OAUTH_PROVIDER_ACCESS_DENIED" }),
  "unknown page": (it) => it.shows("nothing"),
};

let resources = 0;
const SCOPES = ["openid", "profile", "email", "teams", "permissions", "offline_access"];

/** An OAuth client of the project. */
const newClient = (fields) => w.admin("POST", "/internal/oauth-clients", {
  name: "Analytical Notes", client_type: "public", redirect_uris: ["https://notes.example.com/callback"], scopes: SCOPES, policy_uri: "https://notes.example.com/privacy", tos_uri: "https://notes.example.com/terms", ...fields,
});

/** The URLs of two new resources, one of them without scopes. */
async function newResources() {
  resources += 2;
  const scopes = [["notes:read", "Read your notes"], ["notes:write", "Create, change and delete your notes, including those that others share with you"]];
  const both = [
    { identifier: `https://mcp.example.com/${resources}/mcp`, name: "Notes server", scopes: scopes.map(([name, description]) => ({ name, description })) },
    { identifier: `https://a-very-long-name-of-a-department.example.com/${resources}/a/long/path/to/an/interface?tenant=analytical-engines`, name: "Engines" },
  ];
  for (const one of both) await w.admin("POST", "/internal/oauth-resources", one);
  return both.map(({ identifier }) => identifier);
}

/** A visitor with this language, who notes every document and every request elsewhere. */
async function visitor(t, language) {
  const it = await w.visitor(t);
  const { page } = it;
  const [documents, elsewhere] = [[], []];
  page.on("response", (response) => response.request().isNavigationRequest() && documents.push(response));
  page.on("request", (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol.startsWith("http") && origin !== w.origin) elsewhere.push(request.url());
  });
  return {
    ...it,
    /** Signs in, and goes to a client's authorization request. */
    isAskedBy: async function isAskedBy(fields, more) {
      await this.signsInQuietly();
      const { id, redirect_uris } = await newClient(fields);
      const query = new URLSearchParams({
        client_id: id, redirect_uri: redirect_uris[0], response_type: "code", scope: SCOPES.join(" "), code_challenge: "A".repeat(43), code_challenge_method: "S256", ui_locales: language, ...more,
      });
      await page.goto(`${w.issuer()}/oauth2/authorize?${query}`);
      elsewhere.length = 0;
    },
    documents,
    elsewhere,
    shows: (name, query) => page.goto(w.url(name, { ...query, ui_locales: language })),
    /** Presses the form's button, and waits for the next page. */
    submits: async (action) => {
      const answer = page.waitForResponse((response) => response.request().method() === "POST");
      await page.click(action ? `button[value=${action}]` : "form button.main");
      await answer;
      await page.waitForLoadState("load");
    },
    signsInQuietly: async (fields) => {
      const person = await w.person(fields);
      await it.signsIn(person.email, PASSWORD);
      await it.hasSignedIn();
      documents.length = 0;
      return person;
    },
  };
}

/** Texts that are cut off, overlap their control, or leave the window; runs in the page. */
function cutOff() {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const element = node.parentElement;
    if (!node.textContent.trim() || !element.checkVisibility({ checkVisibilityCSS: true }) || element.closest("script, style, noscript")) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const rect of range.getClientRects()) {
      if (rect.left < -1 || rect.right > innerWidth + 1) found.push(`outside the window: ${node.textContent}`);
      for (let box = element; box && box !== document.body; box = box.parentElement) {
        const { overflowX, display } = getComputedStyle(box);
        if (display === "inline" && box === element) continue;
        const outer = box.getBoundingClientRect();
        const leaves = rect.left < outer.left - 1 || rect.right > outer.right + 1 || rect.top < outer.top - 2 || rect.bottom > outer.bottom + 2;
        if (leaves && (overflowX !== "visible" || box.matches("button, .button, main, p, li, .who, .shown"))) found.push(`leaves ${box.tagName}.${box.className}: ${node.textContent}`);
      }
    }
  }
  for (const input of document.querySelectorAll("input:not([type=hidden], [hidden])")) {
    // An entered text may be longer than its field, but a code must be visible as a whole.
    if (input.matches(".code") && input.scrollWidth > input.clientWidth + 1) found.push(`a code is cut off: ${input.value}`);
    if (input.labels.length === 0) found.push(`no label: ${input.name}`);
  }
  return found;
}

/** What can be used on the page, in the order of the document; runs in the page. */
function usable() {
  const all = [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")];
  return all.filter((element) => element.type !== "hidden" && !element.disabled && element.checkVisibility({ checkVisibilityCSS: true })).map((element) => {
    const rect = element.getBoundingClientRect();
    return { name: `${element.tagName} ${element.name ?? ""} ${element.textContent.trim()}`, top: Math.round(rect.top + scrollY), bottom: Math.round(rect.bottom + scrollY), height: rect.height, isListed: element.closest("nav") !== null };
  });
}

/** The focused element and how its focus is shown; runs in the page. */
function focused() {
  const element = document.activeElement;
  if (!element || element === document.body) return null;
  const channels = (color) => color.match(/[\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => [r, g, b].map((value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4)).reduce((sum, value, index) => sum + value * [0.2126, 0.7152, 0.0722][index], 0);
  const style = getComputedStyle(element);
  let back = element.parentElement;
  while (back && channels(getComputedStyle(back).backgroundColor)[3] === 0) back = back.parentElement;
  const [a, b] = [luminance(channels(style.outlineColor)), luminance(channels(getComputedStyle(back ?? document.body).backgroundColor))];
  const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  const rect = element.getBoundingClientRect();
  return {
    name: `${element.tagName} ${element.name ?? ""} ${element.textContent.trim()}`,
    isSeen: style.outlineStyle !== "none" && Number.parseFloat(style.outlineWidth) >= 2 && contrast >= 3,
    isInside: rect.top >= -1 && rect.bottom <= innerHeight + 1,
    how: `${style.outlineStyle} ${style.outlineWidth} ${contrast.toFixed(2)}`,
  };
}

/** Whether the element with the focus is in the window, but for a part of a pixel. */
function isInside() {
  const { top, bottom } = document.activeElement.getBoundingClientRect();
  return top >= -1 && bottom <= innerHeight + 1;
}

/** Asserts that Tab reaches everything, in order, and that one sees where one is. */
async function isReachable(page, where) {
  const expected = await page.evaluate(usable);
  const names = expected.map(({ name }) => name);
  const reached = [];
  // Start where the page has put the focus, and go through the document once.
  for (let step = 0; step < 2 * names.length + 4; step += 1) {
    await page.keyboard.press("Tab");
    const now = await page.evaluate(focused);
    if (!now) continue;
    if (reached.length && reached[0] === now.name && reached.length >= names.length) break;
    reached.push(now.name);
    assert.ok(now.isSeen, `${where}: one sees the focus on ${now.name} (${now.how})`);
    // Browsers scroll shortly after the focus has moved.
    if (!now.isInside) await page.waitForFunction(isInside).catch(() => assert.fail(`${where}: ${now.name} is in the window when it has the focus`));
  }
  const round = reached.slice(0, names.length);
  const first = round.indexOf(names[0]);
  assert.deepEqual(names.length ? [...round.slice(first), ...round.slice(0, first)] : [], names, `${where}: Tab goes through the page in order`);
  for (const [index, { top, name, bottom, isListed }] of expected.entries()) {
    const next = expected[index + 1];
    // From the list of sections at the side, Tab moves to the top of the sections.
    if (next && next.isListed === isListed) assert.ok(next.top >= top || next.bottom >= bottom, `${where}: ${next.name} is not above ${name}`);
  }
}

for (const language of LANGUAGES) {
  for (const [name, open] of Object.entries(PAGES)) {
    test(`${name} (${language})`, async (t) => {
      const it = await visitor(t, language);
      const { page } = it;
      await open(it);
      await page.locator("h1").waitFor();
      const html = page.locator("html");
      assert.deepEqual([await html.getAttribute("lang"), await html.getAttribute("dir")], [language, language === "ar-XB" ? "rtl" : "ltr"]);
      assert.equal(await page.locator("h1").count(), 1);
      const problems = [];
      const tries = async (check) => {
        try {
          await check();
        } catch (error) {
          problems.push(error.message);
        }
      };
      for (const [width, height] of WIDTHS) {
        await page.setViewportSize({ width, height });
        for (const colorScheme of SCHEMES) {
          await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
          const where = `${width} px, ${colorScheme}`;
          if (PICTURES) await page.screenshot({ path: `${PICTURES}/${name.replaceAll(/\W+/g, "-")}.${language}.${width}.${colorScheme}.png`, fullPage: true });
          await tries(() => isAccessible(page, where));
          await tries(async () => assert.deepEqual(await page.evaluate(cutOff), [], where));
        }
      }
      for (const [[width, height], colorScheme] of [[WIDTHS[0], "dark"], [WIDTHS[2], "light"]]) {
        await page.setViewportSize({ width, height });
        await page.emulateMedia({ colorScheme });
        await tries(() => isReachable(page, `${width} px, ${colorScheme}`));
      }
      for (const document of it.documents) {
        if (document.status() >= 300 && document.status() < 400) continue;
        const length = Number(document.headers()["content-length"]);
        if (!(length <= MAX_BYTES)) problems.push(`${length} bytes: ${document.url()}`);
      }
      assert.ok(it.documents.length > 0);
      assert.deepEqual([...problems, ...it.elsewhere, ...it.complaints], []);
    });
  }
}

test("long names fit", async (t) => {
  const word = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft";
  await w.admin("PATCH", "/internal/projects/current", { display_name: `${word} ${word}` });
  t.after(() => w.admin("PATCH", "/internal/projects/current", { display_name: "Development" }));
  const it = await visitor(t, "de");
  const { page } = it;
  await it.signsInQuietly({ display_name: word + word });
  const problems = [];
  for (const name of ["sign-in", "sign-up", "sign-out"]) {
    await it.shows(name);
    for (const [width, height] of WIDTHS) {
      await page.setViewportSize({ width, height });
      if (PICTURES) await page.screenshot({ path: `${PICTURES}/long-${name}.${width}.png`, fullPage: true });
      problems.push(...(await page.evaluate(cutOff)).map((text) => `${name} ${width}: ${text}`));
      await isAccessible(page, `${name} ${width}`).catch((error) => problems.push(error.message));
    }
  }
  assert.deepEqual(problems, []);
  it.check();
});

test("with larger text, nothing is cut off", async (t) => {
  const it = await visitor(t, "de");
  const { page } = it;
  const problems = [];
  for (const name of ["sign-in", "sign-up", "forgot-password", "error"]) {
    await it.shows(name);
    // The size corresponds to a browser at 400 % in a window of 1280 px (WCAG 1.4.10).
    await page.setViewportSize({ width: 320, height: 400 });
    problems.push(...(await page.evaluate(cutOff)).map((text) => `${name}: ${text}`));
    await isAccessible(page, name);
  }
  assert.deepEqual(problems, []);
});

test("a device's code stands where the sentence before it says", async (t) => {
  const it = await visitor(t, "en");
  await PAGES.device(it);
  const announced = it.texts.device.text.split("{name}").at(-1).trim();
  assert.ok((await it.page.locator(".shown").evaluate((code) => code.previousElementSibling.textContent)).endsWith(announced), "the code follows the sentence that announces it");
});

test("a refused form has the focus on what is wrong, and says so to a screen reader", async (t) => {
  const it = await visitor(t, "en");
  const { page } = it;
  await PAGES["sign-up, refused"](it);
  assert.equal(await page.evaluate(() => document.activeElement.id), "email");
  const field = page.locator("#email");
  assert.equal(await field.getAttribute("aria-invalid"), "true");
  assert.equal(await page.locator(`#${await field.getAttribute("aria-describedby")}`).innerText(), `${it.texts.errors.USER_EMAIL_ALREADY_EXISTS}`);
  await PAGES["sign-in, wrong password"](it);
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("role")), "alert");
});

test("with reduced motion, nothing moves", async (t) => {
  const it = await visitor(t, "en");
  await it.page.emulateMedia({ reducedMotion: "reduce" });
  await it.shows("sign-in");
  const moving = await it.page.evaluate(() => [...document.querySelectorAll("*")].filter((element) => Number.parseFloat(getComputedStyle(element).transitionDuration) > 0 || getComputedStyle(element).animationName !== "none").length);
  assert.equal(moving, 0);
});
