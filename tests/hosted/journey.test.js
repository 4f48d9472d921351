// A person uses the pages of a project on the project's host, in each language: an account, emailed
// links and codes, a forgotten password, second factors, an invitation, and another device.

import assert from "node:assert/strict";
import { test } from "node:test";

import { shownBy } from "../sdk/support/authenticator.js";
import { linkOf, typedCodeOf } from "../sdk/support/inbox.js";
import { filled } from "./support/visitor.js";
import { PASSWORD, newAddress, world } from "./support/world.js";

const w = world({ config: { magic_link_enabled: true, second_factor: { remember_device_days: 30 } } });

for (const language of ["en", "de"]) {
  test(`a person signs up, verifies the address, signs out and in (${language})`, async (t) => {
    const it = await w.visitor(t, { language });
    const { texts } = it;
    const email = newAddress();
    await it.open("sign-in");
    await it.sees(filled(texts.sign_in.heading, { project: "Development" }));
    await it.follows(texts.sign_up.link);
    await it.sees(filled(texts.sign_up.heading, { project: "Development" }));
    await it.signsUp(email, PASSWORD);
    await it.hasSignedIn();
    await it.is(email);

    const { url } = linkOf(await w.inbox.next(email));
    assert.equal(`${url.origin}${url.pathname}`, w.url("email-verification"));
    await it.page.goto(url.href);
    await it.sees(texts.verify.title);
    assert.equal(await isVerified(email), false, "opening the link changes nothing");
    await it.presses(texts.verify.submit);
    await it.sees(texts.verify.done_title);
    assert.equal(await isVerified(email), true);

    await it.signsOut();
    await it.signsIn(email, PASSWORD);
    await it.hasSignedIn();
    await it.is(email);
    it.check();
  });

  test(`a person signs in with an emailed code, and with the link (${language})`, async (t) => {
    const it = await w.visitor(t, { language });
    const { texts } = it;
    const { email, id } = await w.person();
    await it.asksForCode(email);
    await it.reads(filled(texts.code.sent, { email }));
    const code = typedCodeOf(await w.inbox.next(email));
    await it.types(texts.code.label, "AAAAAA");
    await it.presses(texts.code.submit);
    await it.reads(texts.errors.VERIFICATION_CODE_NOT_FOUND);
    await it.types(texts.code.label, code.toLowerCase());
    await it.presses(texts.code.submit);
    await it.hasSignedIn();
    await it.is(email);
    await it.signsOut();

    await it.asksForCode(email);
    const { url } = linkOf(await w.inbox.next(email));
    assert.equal(`${url.origin}${url.pathname}`, w.url("magic-link-callback"));
    await it.page.goto(url.href);
    await it.sees(texts.magic.title);
    assert.deepEqual(await w.sessionsOf(id), [], "opening the link begins no session");
    await it.presses(texts.magic.submit);
    await it.hasSignedIn();
    await it.is(email);
    it.check();
  });

  test(`a person who forgot the password sets a new one (${language})`, async (t) => {
    const it = await w.visitor(t, { language });
    const { texts } = it;
    const { email } = await w.person();
    await it.signsIn(email, "another password");
    await it.reads(texts.errors.EMAIL_PASSWORD_MISMATCH);
    assert.equal(await it.page.getByLabel(texts.field.email, { exact: true }).inputValue(), email, "the address is kept");
    await it.follows(texts.sign_in.forgot);
    await it.sees(texts.forgot.title);
    await it.types(texts.field.email, email);
    await it.presses(texts.forgot.submit);
    await it.sees(texts.forgot.sent_title);
    await it.reads(filled(texts.forgot.sent, { email }));

    await it.page.goto(linkOf(await w.inbox.next(email)).url.href);
    await it.sees(texts.reset.title);
    await it.types(texts.field.new_password, "short");
    await it.presses(texts.reset.submit);
    await it.reads(filled(texts.errors.PASSWORD_TOO_SHORT, { min: 8 }));
    await it.types(texts.field.new_password, "tribal lantern wheel");
    await it.presses(texts.reset.submit);
    await it.sees(texts.reset.done_title);
    await it.follows(texts.sign_in.link);
    await it.signsIn(email, PASSWORD);
    await it.reads(texts.errors.EMAIL_PASSWORD_MISMATCH);
    await it.signsIn(email, "tribal lantern wheel");
    await it.hasSignedIn();
    await it.is(email);
    it.check();
  });

  test(`a person with an authenticator app signs in with its code (${language})`, async (t) => {
    const it = await w.visitor(t, { language });
    const { texts } = it;
    const person = await w.person();
    const { secret } = await w.addApp(person);
    await it.signsIn(person.email, PASSWORD);
    await it.sees(texts.mfa.heading);
    const code = await shownBy(secret);
    await it.types(texts.mfa.code, code === "000000" ? "111111" : "000000");
    await it.presses(texts.mfa.submit);
    await it.reads(texts.errors.INVALID_TOTP_CODE);
    await it.types(texts.mfa.code, `${code.slice(0, 3)} ${code.slice(3)}`);
    await it.presses(texts.mfa.submit);
    await it.hasSignedIn();
    await it.is(person.email);
    it.check();
  });

  test(`a person without the app signs in with a recovery code (${language})`, async (t) => {
    const it = await w.visitor(t, { language });
    const { texts } = it;
    const person = await w.person();
    const { codes } = await w.addApp(person);
    const enter = async (code) => {
      await it.types(texts.mfa.recovery_code, code);
      await it.presses(texts.mfa.submit_recovery);
    };
    await it.signsIn(person.email, PASSWORD);
    await it.sees(texts.mfa.heading);
    await it.page.getByText(texts.mfa.recovery, { exact: true }).click();
    await enter("XXXXXX");
    await it.reads(texts.errors.INVALID_RECOVERY_CODE);
    await enter(codes[0]);
    await it.hasSignedIn();
    await it.is(person.email);
    await it.signsOut();

    await it.signsIn(person.email, PASSWORD);
    await it.sees(texts.mfa.heading);
    await it.page.getByText(texts.mfa.recovery, { exact: true }).click();
    await enter(codes[0]);
    await it.reads(texts.errors.INVALID_RECOVERY_CODE);
    it.check();
  });
}

test("a remembered device is not asked for the second factor, and another one is", async (t) => {
  const it = await w.visitor(t);
  const { texts } = it;
  const person = await w.person();
  const { secret } = await w.addApp(person);
  await it.signsIn(person.email, PASSWORD);
  await it.sees(texts.mfa.heading);
  await it.page.getByLabel(filled(texts.mfa.remember, { days: 30 })).first().check();
  await it.types(texts.mfa.code, await shownBy(secret));
  await it.presses(texts.mfa.submit);
  await it.hasSignedIn();
  await it.signsOut();
  await it.signsIn(person.email, PASSWORD);
  await it.hasSignedIn();
  await it.is(person.email);

  const other = await w.visitor(t);
  await other.signsIn(person.email, PASSWORD);
  await other.sees(texts.mfa.heading);
  await other.isNobody();
  it.check();
});

test("the way that was used last is marked", async (t) => {
  const it = await w.visitor(t);
  const { texts } = it;
  const { email } = await w.person();
  await it.signsIn(email, PASSWORD);
  await it.hasSignedIn();
  await it.signsOut();
  assert.deepEqual(await it.page.locator(".last").evaluateAll((marks) => marks.map((mark) => mark.parentElement.value)), ["password"]);
  await it.asksForCode(email);
  await it.types(texts.code.label, typedCodeOf(await w.inbox.next(email)));
  await it.presses(texts.code.submit);
  await it.hasSignedIn();
  await it.signsOut();
  assert.deepEqual(await it.page.locator(".last").evaluateAll((marks) => marks.map((mark) => mark.parentElement.value)), ["code"]);
});

/** Invites an address to a new team. */
async function invite(name, email) {
  const team = await w.server("POST", "/teams", { display_name: name });
  await w.server("POST", "/team-invitations/send-code", { team_id: team.id, email, callback_url: w.url("team-invitation") });
  const members = async () => (await w.server("GET", `/users?team_id=${team.id}`)).items.map(({ primary_email }) => primary_email);
  return { ...linkOf(await w.inbox.next(email)), members };
}

test("a person with an account accepts a team invitation", async (t) => {
  const it = await w.visitor(t);
  const { texts } = it;
  const { email } = await w.person();
  const { url, members } = await invite("Engines & Co", email);
  await it.page.goto(url.href);
  await it.types(texts.field.email, email);
  await it.types(texts.field.password, PASSWORD);
  await it.presses(texts.sign_in.submit);
  await it.sees(filled(texts.invitation.title, { team: "Engines & Co" }));
  await it.reads(filled(texts.invitation.text, { team: "Engines & Co", name: email }));
  assert.deepEqual(await members(), [], "opening the link joins no team");
  await it.presses(texts.invitation.accept);
  await it.sees(texts.invitation.done_title);
  assert.deepEqual(await members(), [email]);
  it.check();
});

test("the page for signing in to see an invitation says why", async (t) => {
  const it = await w.visitor(t);
  const { url } = await invite("Engines", newAddress());
  await it.page.goto(url.href);
  await it.reads(it.texts.invitation.sign_in_first);
});

test("an invitation to another address is refused, with a way to the right account", async (t) => {
  const it = await w.visitor(t);
  const { texts } = it;
  const [{ email }, other] = [await w.person(), await w.person()];
  const { url, members } = await invite("Engines", email);
  await it.signsIn(other.email, PASSWORD);
  await it.hasSignedIn();
  await it.page.goto(url.href);
  await it.presses(texts.invitation.accept);
  await it.reads(texts.errors.TEAM_INVITATION_EMAIL_MISMATCH);
  assert.deepEqual(await members(), []);
  await it.follows(texts.invitation.another);
  await it.presses(texts.sign_out.submit);
  await it.sees(texts.sign_out.done_title);
  it.check();
});

test("a stranger signs up for an invitation, and is told to verify the address", async (t) => {
  const it = await w.visitor(t);
  const { texts } = it;
  const email = newAddress();
  const { url, members } = await invite("Engines", email);
  await it.page.goto(url.href);
  await it.follows(texts.sign_up.link);
  await it.types(texts.field.email, email);
  await it.types(texts.field.password, PASSWORD);
  await it.presses(texts.sign_up.submit);
  await it.sees(filled(texts.invitation.title, { team: "Engines" }));
  await it.presses(texts.invitation.accept);
  await it.reads(filled(texts.invitation.verify_first, { email }));
  await it.page.goto(linkOf(await w.inbox.next(email)).url.href);
  await it.presses(texts.verify.submit);
  await it.sees(texts.verify.done_title);
  // The next page is that of the invitation.
  await it.follows(texts.verify.next);
  await it.presses(filled(texts.sign_in.continue_as, { name: email }));
  await it.sees(filled(texts.invitation.title, { team: "Engines" }));
  await it.presses(texts.invitation.accept);
  await it.sees(texts.invitation.done_title);
  assert.deepEqual(await members(), [email]);
  it.check();
});

/** Starts the sign-in of a device (RFC 8628). */
async function device() {
  const { url, projectId: client_id, publishableClientKey: client_secret } = w.gateway;
  const body = new URLSearchParams({ client_id, client_secret, verification_uri: w.url("cli-auth-confirm") });
  const response = await fetch(`${url}/api/v1/auth/oauth/device_authorization`, { method: "POST", body });
  assert.equal(response.status, 200);
  const started = await response.json();
  const poll = () => w.token({ grant_type: "urn:ietf:params:oauth:grant-type:device_code", device_code: started.device_code });
  return { ...started, poll };
}

test("a person confirms a device's sign-in with the code that it shows", async (t) => {
  const it = await w.visitor(t);
  const { texts } = it;
  const { email, id } = await w.person();
  const { user_code, verification_uri, poll } = await device();
  await it.page.goto(verification_uri);
  await it.types(texts.field.email, email);
  await it.types(texts.field.password, PASSWORD);
  await it.presses(texts.sign_in.submit);
  await it.sees(texts.device.enter_title);
  await it.types(texts.device.enter, "WRONGCODE");
  await it.presses(texts.device.enter_submit);
  await it.reads(texts.errors.INVALID_LOGIN_CODE);
  await it.types(texts.device.enter, user_code.toLowerCase());
  await it.presses(texts.device.enter_submit);
  await it.sees(texts.device.title);
  await it.reads(filled(texts.device.text, { name: email }));
  assert.equal((await it.page.locator(".shown").textContent()).replace("-", "").toUpperCase(), user_code.replace("-", ""), "the page shows the device's code");
  await it.presses(texts.device.allow);
  await it.sees(texts.device.done_title);
  const { status, body } = await poll();
  assert.equal(status, 200, JSON.stringify(body));
  assert.equal((await w.client("GET", "/users/me", undefined, body.access_token)).id, id);
  it.check();
});

test("the page shows a device's code as the device writes it", async (t) => {
  const it = await w.visitor(t);
  const { email } = await w.person();
  await it.signsIn(email, PASSWORD);
  await it.hasSignedIn();
  const { user_code } = await device();
  await it.open("cli-auth-confirm", { user_code: user_code.replace("-", "").toLowerCase() });
  await it.sees(it.texts.device.title);
  assert.equal(await it.page.locator(".shown").textContent(), user_code);
});

test("a link with the device's code shows the code to compare (RFC 8628 §3.3.1)", async (t) => {
  const it = await w.visitor(t);
  const { email } = await w.person();
  await it.signsIn(email, PASSWORD);
  await it.hasSignedIn();
  const { user_code, verification_uri_complete } = await device();
  await it.page.goto(verification_uri_complete);
  await it.sees(it.texts.device.title);
  assert.ok((await it.page.innerText("main")).includes(user_code), "the page shows the code");
});

test("a person refuses a device, which learns of it", async (t) => {
  const it = await w.visitor(t);
  const { texts } = it;
  const { email } = await w.person();
  await it.signsIn(email, PASSWORD);
  await it.hasSignedIn();
  const { verification_uri_complete, poll } = await device();
  await it.page.goto(verification_uri_complete);
  await it.sees(texts.device.title);
  await it.presses(texts.device.deny);
  await it.sees(texts.device.denied_title);
  const { status, body } = await poll();
  assert.deepEqual([status, body.error], [400, "access_denied"]);
  it.check();
});

test("without a host of its own, the project is in the query of every page and link", async (t) => {
  const it = await w.visitor(t);
  const { page, texts } = it;
  const email = newAddress();
  const { url, projectId } = w.gateway;
  const isHere = (name) => page.waitForURL((at) => at.origin === url && at.pathname === `/handler/${name}` && at.searchParams.get("project_id") === projectId);
  await page.goto(`${url}/handler/sign-in?project_id=${projectId}`);
  await it.follows(texts.sign_up.link);
  await isHere("sign-up");
  await it.types(texts.field.email, email);
  await it.types(texts.field.password, PASSWORD);
  await it.presses(texts.sign_up.submit);
  await isHere("account-settings");
  const link = linkOf(await w.inbox.next(email)).url;
  assert.deepEqual([link.origin, link.searchParams.get("project_id")], [url, projectId]);
  await page.goto(link.href);
  await it.presses(texts.verify.submit);
  await it.sees(texts.verify.done_title);
  assert.equal(await isVerified(email), true);
  await it.follows(texts.verify.next);
  await isHere("sign-in");
  await page.getByRole("button", { name: filled(texts.sign_in.continue_as, { name: email }), exact: true }).waitFor();
  // Cookies of the gateway's host and of the project's host are separate.
  await it.isNobody();
  it.check();
});

test("a project's bot challenge is solved on the page", async (t) => {
  await w.configure({ bot_challenge: { provider: "altcha", sign_up: "always" } });
  t.after(() => w.configure({ bot_challenge: { provider: "off" } }));
  const it = await w.visitor(t);
  const email = newAddress();
  await it.open("sign-up");
  await it.types(it.texts.field.email, email);
  await it.types(it.texts.field.password, PASSWORD);
  await it.reads(it.texts.challenge.done);
  await it.presses(it.texts.sign_up.submit);
  await it.hasSignedIn();
  await it.is(email);
  it.check();
});

test("a form is sent once, however often its button is pressed", async (t) => {
  const it = await w.visitor(t);
  const { page, texts } = it;
  const { email, id } = await w.person();
  const posts = [];
  page.on("request", (request) => request.method() === "POST" && request.isNavigationRequest() && posts.push(request.url()));
  await it.open("sign-in");
  await it.types(texts.field.email, email);
  await it.types(texts.field.password, PASSWORD);
  await page.locator("button[value=password]").dblclick();
  await it.hasSignedIn();
  assert.equal(posts.length, 1);
  assert.equal((await w.sessionsOf(id)).length, 1);
  await page.goBack();
  await page.getByRole("heading", { level: 1 }).waitFor();
  assert.equal(await page.locator("main button:disabled").count(), 0);
  await it.signsIn(email, PASSWORD);
  await it.hasSignedIn();
  it.check();
});

// Mail programs cut off long links. The person has not entered anything that could be checked.
for (const [page, button] of [["email-verification", "verify"], ["magic-link-callback", "magic"], ["password-reset", "reset"], ["team-invitation", undefined]]) {
  test(`a link to ${page} that was cut off says what is wrong, and how to go on`, async (t) => {
    const it = await w.visitor(t);
    const { texts } = it;
    const { email } = await w.person();
    if (!button) {
      await it.signsIn(email, PASSWORD);
      await it.hasSignedIn();
    }
    await it.open(page, { code: "w4f3k8d1ez311bc2" });
    if (page === "password-reset") await it.types(texts.field.new_password, "tribal lantern wheel");
    if (button) await it.presses(texts[button].submit);
    await it.page.locator("[role=alert]").waitFor();
    assert.equal(await it.page.locator("[role=alert]").textContent(), texts.errors.VERIFICATION_CODE_NOT_FOUND);
    assert.ok(await it.page.locator("main a[href]").count(), "a link to go on");
  });
}

// Sends the forms of a page that was open while another tab signed in. The person's input and link
// must not be lost, and no page may be empty.
for (const [name, open] of [
  ["a reset", async (it, { email }) => {
    await w.client("POST", "/auth/password/send-reset-code", { email, callback_url: w.url("password-reset") });
    await it.page.goto(linkOf(await w.inbox.next(email)).url.href);
    const reset = async () => {
      await it.types(it.texts.field.new_password, "tribal lantern wheel");
      await it.presses(it.texts.reset.submit);
    };
    return { send: reset, again: reset, done: it.texts.reset.done_title };
  }],
  ["a verification", async (it) => {
    const email = newAddress();
    await w.client("POST", "/auth/password/sign-up", { email, password: PASSWORD, verification_callback_url: w.url("email-verification") });
    await it.page.goto(linkOf(await w.inbox.next(email)).url.href);
    const verify = () => it.presses(it.texts.verify.submit);
    return { send: verify, again: verify, done: it.texts.verify.done_title };
  }],
  ["an invitation", async (it, person) => {
    const { url } = await invite("Engines", person.email);
    await it.signsIn(person.email, PASSWORD);
    await it.hasSignedIn();
    await it.page.goto(url.href);
    const accept = () => it.presses(it.texts.invitation.accept);
    return { send: accept, again: accept, done: it.texts.invitation.done_title, another: person };
  }],
  ["a second factor", async (it, person) => {
    await w.addApp(person);
    await it.signsIn(person.email, PASSWORD);
    await it.sees(it.texts.mfa.heading);
    const send = async () => {
      await it.types(it.texts.mfa.code, "000000");
      await it.presses(it.texts.mfa.submit);
    };
    return { send, again: () => it.page.getByRole("heading", { level: 1 }).waitFor() };
  }],
]) {
  test(`${name} that was open while another tab signed in can be sent again`, async (t) => {
    const it = await w.visitor(t);
    const person = await w.person();
    const { send, again, done, another = await w.person() } = await open(it, person);
    const tab = await it.context.newPage();
    await tab.goto(w.url("sign-in"));
    for (const fold of await tab.locator("summary").all()) await fold.click();
    await tab.getByLabel(it.texts.field.email, { exact: true }).fill(another.email);
    await tab.getByLabel(it.texts.field.password, { exact: true }).fill(PASSWORD);
    await tab.locator("button[value=password]").click();
    await tab.waitForURL((url) => url.pathname === "/handler/account-settings");
    const answer = it.page.waitForResponse((response) => response.request().method() === "POST");
    await send();
    assert.notEqual(await (await answer).text().catch(() => ""), "", "the answer is a page");
    await it.reads(it.texts.common.expired_form);
    await again();
    if (done) await it.sees(done);
    it.check();
  });
}

async function isVerified(email) {
  const { items } = await w.server("GET", `/users?${new URLSearchParams({ query: email })}`);
  return items.find(({ primary_email }) => primary_email === email).primary_email_verified;
}
