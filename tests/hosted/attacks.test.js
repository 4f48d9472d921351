// Attacks on the pages by other sites and other projects, and with hostile texts.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";

import { linkOf } from "../sdk/support/inbox.js";
import { openInternal } from "../sdk/support/gateway.js";
import { filled } from "./support/visitor.js";
import { PASSWORD, newAddress, textsOf, world } from "./support/world.js";

const w = world({ config: { magic_link_enabled: true, passkey_enabled: true } });
const texts = textsOf("en");
/** Another site; `shown` is its page. */
const evil = { shown: "" };

before(async () => {
  await w.started;
  await w.configure({ allow_localhost: false, domains: [{ domain: "https://app.example.com" }] });
  const server = createServer((request, response) => response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(`<!doctype html><title>evil</title>${evil.shown}`));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  Object.assign(evil, { url: `http://127.0.0.1:${server.address().port}`, stop: () => server.close() });
});
after(() => evil.stop?.());

const PAGES = ["sign-in", "sign-up", "forgot-password", "password-reset?code=x", "email-verification?code=x", "magic-link-callback?code=x", "sign-out", "error", "oauth-start", "oauth-callback", "nothing"];

/** A signed-in visitor. */
async function signedIn(t, options) {
  const it = await w.visitor(t, options);
  const person = await w.person();
  await it.signsIn(person.email, PASSWORD);
  await it.hasSignedIn();
  return { ...it, ...person };
}

/** The cookies of a response as a request's header. */
const cookiesOf = ({ setCookies }) => setCookies.map((cookie) => cookie.split(";")[0]).join("; ");
/** The fields of the first form in a page. */
const formOf = ({ body }) => Object.fromEntries([...body.slice(body.indexOf("<form"), body.indexOf("</form>")).matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)].map(([, name, value]) => [name, value]));

/** Posts a form without a browser. */
function post(url, fields, headers = {}) {
  return w.ask(url, { method: "POST", headers: { "content-type": "application/x-www-form-urlencoded", ...headers }, body: new URLSearchParams(fields).toString() });
}

test("no page can be framed", async (t) => {
  for (const page of PAGES) {
    const { headers } = await w.ask(w.url(page));
    if (headers.location) continue;
    assert.match(headers["content-security-policy"], /frame-ancestors 'none'/, page);
    assert.equal(headers["x-frame-options"], "DENY", page);
  }
  const it = await w.visitor(t);
  evil.shown = `<iframe src="${w.url("sign-in")}"></iframe>`;
  const refused = it.page.waitForEvent("console", (message) => /frame-ancestors|X-Frame-Options/i.test(message.text()));
  await it.page.goto(evil.url);
  await refused;
  assert.equal(await it.page.frames()[1].evaluate(() => document.querySelector("form")).catch(() => null), null);
});

test("pages load only what is their own, and are not cached", async () => {
  for (const page of PAGES) {
    const { headers, body } = await w.ask(w.url(page));
    assert.equal(headers["cache-control"], "no-store", page);
    assert.match(headers["referrer-policy"], /^(same-origin|no-referrer)$/, page);
    if (headers.location) continue;
    const policy = headers["content-security-policy"];
    assert.match(policy, /default-src 'none'/, page);
    assert.doesNotMatch(policy, /unsafe|\*/, page);
    assert.match(policy, /base-uri 'none'/, page);
    assert.equal(headers["x-content-type-options"], "nosniff", page);
    const markup = body.replaceAll("&#x2f;", "/").replace(/<style>[^]*<\/style>/, "");
    assert.ok(!/<script(?![^>]* src="\/handler\/)|\son\w+=|\sstyle=|javascript:/.test(markup), markup);
  }
});

test("a form that another site sends is refused, and changes nothing", async (t) => {
  const it = await signedIn(t);
  const other = await w.person();
  const token = (await it.page.goto(w.url("sign-out"))) && (await it.page.locator("[name=form_token]").first().inputValue());
  // The request is rejected even with the token of the form, which another site cannot read.
  for (const form_token of ["", "x", token]) {
    evil.shown = `<form method="post" action="${w.url("sign-out")}"><input name="form_token" value="${form_token}"><button name="action" value="sign-out">go</button></form>`;
    await it.page.goto(evil.url);
    const answer = it.page.waitForResponse((response) => response.url().startsWith(w.origin) && response.request().method() === "POST");
    await it.page.click("button");
    assert.equal((await answer).status(), 403);
    assert.equal((await w.sessionsOf(it.id)).length, 1, "nobody was signed out");
  }
  // It is also an attack to sign the visitor in as somebody else.
  evil.shown = `<form method="post" action="${w.url("sign-in")}"><input name="email" value="${other.email}"><input name="password" value="${PASSWORD}"><button>go</button></form>`;
  await it.page.goto(evil.url);
  const answer = it.page.waitForResponse((response) => response.url().startsWith(w.origin) && response.request().method() === "POST");
  await it.page.click("button");
  assert.equal((await answer).status(), 403);
  assert.deepEqual(await w.sessionsOf(other.id), []);
  await it.is(it.email);
});

test("a form needs its token, from its own browser and session", async () => {
  const { email, id } = await w.person();
  const page = await w.ask(w.url("sign-in"));
  const cookie = cookiesOf(page);
  const fields = { ...formOf(page), email, password: PASSWORD, action: "password" };
  const another = await w.ask(w.url("sign-in"));
  const own = { origin: w.origin };
  for (const [what, sent, headers] of [
    ["no token", { ...fields, form_token: "" }, { cookie, ...own }],
    ["another browser's token", { ...fields, form_token: formOf(another).form_token }, { cookie, ...own }],
    ["no cookie", fields, own],
    ["another browser's cookie", fields, { cookie: cookiesOf(another), ...own }],
    ["a foreign origin", fields, { cookie, origin: evil.url }],
    ["an opaque origin", fields, { cookie, origin: "null" }],
    ["a foreign site", fields, { cookie, ...own, "sec-fetch-site": "cross-site" }],
    ["a sibling's host", fields, { cookie, ...own, "sec-fetch-site": "same-site" }],
  ]) {
    assert.equal((await post(w.url("sign-in"), sent, headers)).status, 403, what);
    assert.deepEqual(await w.sessionsOf(id), [], what);
  }
  const answer = await post(w.url("sign-in"), fields, { cookie, ...own, "sec-fetch-site": "same-origin" });
  assert.equal(answer.status, 303, "the right form signs in");
  assert.equal((await w.sessionsOf(id)).length, 1);
});

test("the script's requests from another site are refused, too", async (t) => {
  const it = await w.visitor(t);
  await it.page.goto(evil.url);
  const asked = await it.page.evaluate((url) => fetch(url, { method: "POST", credentials: "include", body: new URLSearchParams({ action: "passkey-begin" }) }).then((answer) => answer.status, (error) => error.name), w.url("sign-in"));
  assert.ok([403, "TypeError"].includes(asked), `${asked}`);
});

test("the cookies are for this host, not for scripts, and Lax", async (t) => {
  const it = await signedIn(t);
  const cookies = await it.context.cookies();
  assert.ok(cookies.length >= 3, JSON.stringify(cookies));
  for (const { name, domain, httpOnly, sameSite, path } of cookies) {
    assert.deepEqual([domain, httpOnly, sameSite, path], [new URL(w.origin).hostname, true, "Lax", "/"], name);
    assert.ok(name.endsWith(w.gateway.projectId), name);
  }
  assert.equal(await it.page.evaluate(() => document.cookie), "");
});

/** Another project, whose pages are open for sign-up. */
async function anotherProject() {
  await openInternal(w.gateway);
  const { url, internalClientKey } = w.gateway;
  const headers = { "content-type": "application/json", "x-service-access-type": "client", "x-service-project-id": "internal", "x-service-publishable-client-key": internalClientKey };
  const signedUp = await fetch(`${url}/api/v1/auth/password/sign-up`, { method: "POST", headers, body: JSON.stringify({ email: newAddress(), password: PASSWORD }) });
  const { access_token } = await signedUp.json();
  const create = async (path, body) => {
    const answer = await fetch(`${url}/api/v1${path}`, { method: "POST", headers: { ...headers, "x-service-access-token": access_token }, body: JSON.stringify(body) });
    assert.ok(answer.ok, await answer.clone().text());
    return (await answer.json()).id;
  };
  const owner_team_id = await create("/teams", { display_name: "Owners", creator_user_id: "me" });
  return create("/internal/projects", { display_name: "Other", owner_team_id, config: { sign_up_enabled: true } });
}

test("a cookie of one project is no session at another", async (t) => {
  const other = await anotherProject();
  const it = await signedIn(t);
  const session = await it.cookie("session");
  const [host, api] = [`${w.originOf(other)}/handler/sign-in`, `${w.gateway.url}/handler/sign-in?project_id=${other}`];
  for (const url of [host, api]) {
    for (const name of [session.name, `gatelet-session-${other}`]) {
      const { status, body } = await w.ask(url, { headers: { cookie: `${name}=${session.value}` } });
      assert.equal(status, 200);
      assert.ok(body.includes("Other"), "the other project's page");
      assert.ok(!body.includes(it.email) && !body.includes('value="continue"'), `nobody at ${url} with ${name}`);
    }
  }
  // The host of a project never shows another project, whatever the query contains.
  const { body } = await w.ask(`${w.url("sign-in")}?project_id=${other}`, { headers: { cookie: `${session.name}=${session.value}` } });
  assert.ok(body.includes(it.email) && !body.includes("Other"));
  // A form of one project is not valid in another project.
  const page = await w.ask(w.url("sign-in"));
  const fields = { ...formOf(page), email: newAddress(), password: PASSWORD };
  const cookie = cookiesOf(page).replaceAll(w.gateway.projectId, other);
  assert.equal((await post(`${w.originOf(other)}/handler/sign-up`, fields, { cookie, origin: w.originOf(other) })).status, 403);
});

test("the project internal has no pages", async () => {
  for (const url of [`${w.originOf("internal")}/handler/sign-in`, `${w.gateway.url}/handler/sign-in?project_id=internal`]) assert.equal((await w.ask(url)).status, 404);
});

const UNTRUSTED = [
  "https://evil.example/", "//evil.example/", "/\\evil.example/", "\\\\evil.example/", "https:evil.example", "https:/evil.example/", "javascript:alert(1)",
  "JaVaScRiPt:alert(1)//https://app.example.com", "data:text/html,<script>alert(1)</script>", "https://app.example.com@evil.example/", "https://app.example.com:x@evil.example/",
  "https://app.example.com.evil.example/", "https://evil.example/https://app.example.com", "http://app.example.com/", "https://app.example.com:8443/", "https://evil.example#@app.example.com",
  "https://app.example.com\\@evil.example/", "/handler/../../evil", "/handler/%2e%2e/x", "/api/v1/projects/current", "\thttps://evil.example", "/\t/evil.example", "https://app.example.com%00.evil.example/", "/handler//evil.example/../../..//evil.example",
];

for (const to of UNTRUSTED) {
  test(`a way back to ${JSON.stringify(to)} is not followed`, async (t) => {
    const it = await signedIn(t);
    /** Where an answer leads, which must be a page of this project. */
    const leads = ({ status, headers, body }) => {
      if (!headers.location) return assert.ok(status < 400 && body.includes("<h1"), `a page, not ${status}`);
      const target = new URL(headers.location, w.origin);
      assert.equal(target.origin, w.origin, headers.location);
      assert.ok(target.pathname.startsWith("/handler/"), headers.location);
    };
    const session = await it.cookie("session");
    const browser = await it.cookie("browser");
    const cookie = [session, browser].map(({ name, value }) => `${name}=${value}`).join("; ");
    const query = { after_auth_return_to: to };
    const page = await w.ask(w.url("sign-in", query), { headers: { cookie } });
    leads(page);
    leads(await post(w.url("sign-in", query), { ...formOf(page), action: "continue" }, { cookie, origin: w.origin }));
    leads(await post(w.url("onboarding", query), { ...formOf(page), action: "continue" }, { cookie, origin: w.origin }));
    leads(await w.ask(w.url("sign-out", query)));
    // An untrusted URL is not asked for the session of an app either.
    leads(await w.ask(w.url("sign-in", { stack_nested_cross_domain_auth_refresh_token_id: "x", stack_nested_cross_domain_auth_callback_url: to }), { headers: { cookie } }));
    leads(await post(w.url("sign-in", query), { ...formOf(page), email: it.email, password: PASSWORD, action: "password" }, { cookie, origin: w.origin }));
    // A foreign site does not get a code either.
    const challenge = { hexclave_cross_domain_state: "s", hexclave_cross_domain_code_challenge: "x".repeat(43), hexclave_cross_domain_after_callback_redirect_url: to };
    const crossed = await post(w.url("sign-in", { ...query, ...challenge }), { ...formOf(page), action: "continue" }, { cookie, origin: w.origin });
    leads(crossed);
    assert.ok(!`${crossed.headers.location}`.includes("code="), `${crossed.headers.location}`);
    // Even if a page were wrong, its form could not be sent to another site.
    assert.doesNotMatch(page.headers["content-security-policy"], /evil/);
    leads(await post(w.url("sign-out", query), { ...formOf(page), action: "sign-out" }, { cookie, origin: w.origin }));
  });
}

test("a trusted way back is followed, and a page on the way says which app it is not", async (t) => {
  const it = await signedIn(t);
  const to = "https://app.example.com/welcome?x=1";
  await it.open("sign-in", { after_auth_return_to: to });
  // No server listens there; it is enough that the browser sends the request.
  const sent = it.page.waitForRequest(to);
  await it.presses(filled(texts.sign_in.continue_as, { name: it.email }));
  await sent;
  it.check();
  const another = await w.visitor(t);
  await another.open("sign-in", { after_auth_return_to: "https://evil.example/" });
  await another.reads(filled(texts.common.untrusted, { project: "Development" }));
  another.check();
});

test("a trusted app gets no session of a code that it did not ask for", async (t) => {
  // Not only the page after the sign-in must be trusted, but also the app's callback.
  const it = await signedIn(t);
  const page = await w.ask(w.url("sign-in"));
  const session = await it.cookie("session");
  const cookie = `${cookiesOf(page)}; ${session.name}=${session.value}`;
  const form = formOf(await w.ask(w.url("sign-in"), { headers: { cookie } }));
  const query = {
    after_auth_return_to: "https://app.example.com/callback", hexclave_cross_domain_state: "s", hexclave_cross_domain_code_challenge: "x".repeat(43),
    hexclave_cross_domain_after_callback_redirect_url: "https://evil.example/",
  };
  const answer = await post(w.url("sign-in", query), { ...form, action: "continue" }, { cookie, origin: w.origin });
  assert.ok(!`${answer.headers.location}`.includes("code="), `${answer.status} ${answer.headers.location}`);
});

const HOSTILE = [
  `"><script>document.title="broken"</script><img src=x onerror="document.title='broken'">`,
  `</title><style>*{display:none}</style>{{7*7}}{% for %}&amp;&lt;`,
  "{email} {name} {project} {team}",
  `مرحبا <b>&</b> 'n' "q" \`$\{x}\``,
];

for (const name of HOSTILE) {
  test(`names are text: ${JSON.stringify(name)}`, async (t) => {
    await w.admin("PATCH", "/internal/projects/current", { display_name: name });
    t.after(() => w.admin("PATCH", "/internal/projects/current", { display_name: "Development" }));
    const it = await w.visitor(t);
    const { page } = it;
    const isText = async () => {
      const title = await page.title();
      assert.ok(title !== "broken" && !title.includes("49"), title);
      assert.deepEqual(await page.locator("main script, main img, main style").count(), 0);
      assert.ok((await page.locator(".brand").innerText()).includes(name.trim().split(/\s+/)[0]), await page.locator(".brand").innerText());
    };
    const person = await w.person({ display_name: name });
    await it.signsIn(person.email, PASSWORD);
    await it.hasSignedIn();
    await it.open("sign-in");
    // The button shows the name unchanged.
    assert.equal(await page.locator("button[value=continue]").textContent(), filled(texts.sign_in.continue_as, { name }));
    await isText();
    await it.open("sign-out");
    await it.reads(filled(texts.sign_out.text, { name }).replaceAll(/\s+/g, " "));
    await isText();

    const team = await w.server("POST", "/teams", { display_name: name });
    await w.server("POST", "/team-invitations/send-code", { team_id: team.id, email: person.email, callback_url: w.url("team-invitation") });
    await page.goto(linkOf(await w.inbox.next(person.email)).url.href);
    await it.page.getByRole("heading", { level: 1 }).waitFor();
    assert.equal(await page.locator("h1").textContent(), `Join ${name}`);
    await it.reads(`You have been invited to the team ${name}. You are signed in as ${name}.`.replaceAll(/\s+/g, " "));
    await isText();

    await it.open("cli-auth-confirm", { user_code: name });
    await isText();
    await it.open("forgot-password", { login_hint: name });
    assert.equal(await page.locator("#email").getAttribute("value"), name);
    await isText();
    for (const query of ["errorCode", "ui_locales", "after_auth_return_to", "code", "state", "provider"]) {
      for (const at of ["error", "sign-in", "password-reset", "email-verification", "oauth-callback"]) {
        await it.open(at, { [query]: name });
        await isText();
      }
    }
    it.check();
  });
}

test("an address that the visitor types is text", async (t) => {
  const it = await w.visitor(t, { javaScriptEnabled: false });
  for (const email of [`"><img/src=x>@example.com`, `<b>x</b>@example.com`, `{name}@example.com`]) {
    await it.open("sign-in");
    await it.page.locator("#email").evaluate((input) => (input.type = "text"));
    await it.types(it.texts.field.email, email);
    await it.presses(it.texts.sign_in.send_code);
    await it.page.getByRole("heading", { level: 1 }).waitFor();
    assert.equal(await it.page.locator("main img, main b").count(), 0);
    assert.equal(await it.page.locator("input[name=email]").first().inputValue(), email);
  }
});

test("sign-in does not say whether an account exists", async (t) => {
  const it = await w.visitor(t);
  const { email } = await w.person();
  const said = [];
  for (const address of [email, newAddress()]) {
    await it.signsIn(address, "a wrong password");
    await it.reads(it.texts.errors.EMAIL_PASSWORD_MISMATCH);
    await it.open("forgot-password");
    await it.types(it.texts.field.email, address);
    await it.presses(it.texts.forgot.submit);
    await it.sees(it.texts.forgot.sent_title);
    said.push((await it.page.innerText("main")).replaceAll(address, "ADDRESS"));
  }
  assert.equal(said[0], said[1]);
});

test("large and broken requests get an answer that is no fault of the service", async () => {
  const page = await w.ask(w.url("sign-in"));
  const headers = { cookie: cookiesOf(page), origin: w.origin };
  const fields = formOf(page);
  for (const [what, answer] of Object.entries({
    "a long address": await post(w.url("sign-in"), { ...fields, email: `${"x".repeat(15_000)}@example.com`, password: "x" }, headers),
    "a long password": await post(w.url("sign-in"), { ...fields, email: "a@example.com", password: "x".repeat(15_000) }, headers),
    "NUL": await post(w.url("sign-up"), { ...fields, email: "a\0@example.com", password: "\0".repeat(9) }, headers),
    "JSON": await w.ask(w.url("sign-in"), { method: "POST", headers: { ...headers, "content-type": "application/json" }, body: "{}" }),
    "a broken passkey": await post(w.url("sign-in"), { ...fields, action: "passkey", passkey: "{", passkey_code: "x" }, headers),
    "a broken second factor": await post(w.url("mfa"), { ...fields, action: "passkey", passkey: "{", attempt: "" }, headers),
    "a broken path": await w.ask(`${w.origin}/handler/%ff%00`),
    "a long query": await w.ask(w.url("sign-in", { after_auth_return_to: `https://app.example.com/${"x".repeat(6_000)}` })),
    "a header in a way back": await w.ask(w.url("sign-out", { after_auth_return_to: "https://app.example.com/\r\nset-cookie: x=y" })),
  })) {
    assert.ok(answer.status < 500, `${what}: ${answer.status}`);
    assert.ok(!JSON.stringify(answer.setCookies).includes("x=y"), what);
  }
});
