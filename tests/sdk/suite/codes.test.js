// Sign-in without a password: emailed links and codes, and anonymous users.

import assert from "node:assert/strict";
import { test } from "node:test";

import { linkOf, typedCodeOf } from "../support/inbox.js";
import { CALLBACK, PASSWORD, newAddress, ok, refused, world } from "../support/world.js";

const w = world();

test("an emailed link signs up an unknown address, verified and without a password", async () => {
  const email = newAddress();
  const app = w.client();
  const { nonce } = ok(await app.sendMagicLinkEmail(email, { callbackUrl: CALLBACK }));
  assert.equal(nonce.length, 39);
  assert.equal(await app.getUser(), null);

  const { url, code } = linkOf(await w.inbox.next(email));
  assert.equal(`${url.origin}${url.pathname}`, "http://localhost:3000/callback");
  ok(await app.signInWithMagicLink(code, { noRedirect: true }));
  const user = await app.getUser();
  assert.equal(user.primaryEmail, email);
  assert.equal(user.primaryEmailVerified, true);
  assert.equal(user.hasPassword, false);
  assert.equal(user.otpAuthEnabled, true);
});

test("the typed code with its nonce signs in to the same account, ignoring case", async () => {
  const { email, user } = await w.signedUpByLink();
  for (const change of [(text) => text.toUpperCase(), (text) => text.toLowerCase()]) {
    const app = w.client();
    const { nonce } = ok(await app.sendMagicLinkEmail(email, { callbackUrl: CALLBACK }));
    const mail = await w.inbox.next(email);
    const typed = typedCodeOf(mail);
    assert.equal(linkOf(mail).code, typed.toLowerCase() + nonce);
    ok(await app.signInWithMagicLink(change(typed) + nonce, { noRedirect: true }));
    assert.equal((await app.getUser()).id, user.id);
  }
});

test("a code works once, and a wrong one not at all", async () => {
  const email = newAddress();
  const app = w.client();
  const { nonce } = ok(await app.sendMagicLinkEmail(email, { callbackUrl: CALLBACK }));
  const { code } = linkOf(await w.inbox.next(email));
  const wrong = (code.startsWith("0") ? "1" : "0") + code.slice(1, 6) + nonce;
  refused(await app.signInWithMagicLink(wrong, { noRedirect: true }), "VERIFICATION_CODE_NOT_FOUND");
  assert.equal(await app.getUser(), null);
  ok(await app.signInWithMagicLink(code, { noRedirect: true }));
  refused(await w.client().signInWithMagicLink(code, { noRedirect: true }), "VERIFICATION_CODE_ALREADY_USED");
});

test("an older link still works after a newer one was sent", async () => {
  const email = newAddress();
  const app = w.client();
  ok(await app.sendMagicLinkEmail(email, { callbackUrl: CALLBACK }));
  const older = linkOf(await w.inbox.next(email));
  ok(await app.sendMagicLinkEmail(email, { callbackUrl: CALLBACK }));
  await w.inbox.next(email);
  ok(await app.signInWithMagicLink(older.code, { noRedirect: true }));
  assert.equal((await app.getUser()).primaryEmail, email);
});

test("links never lead to untrusted pages", async () => {
  const email = newAddress();
  const app = w.client();
  refused(await app.sendMagicLinkEmail(email, { callbackUrl: "https://evil.example/" }), "REDIRECT_URL_NOT_WHITELISTED");
  ok(await app.sendMagicLinkEmail(email, { callbackUrl: CALLBACK }));
  assert.equal(linkOf(await w.inbox.next(email)).url.hostname, "localhost");
});

test("an anonymous user persists across calls and is hidden by default", async () => {
  const app = w.client();
  assert.equal(await app.getUser(), null);
  const user = await app.getUser({ or: "anonymous" });
  assert.equal(user.isAnonymous, true);
  assert.equal(user.isRestricted, true);
  assert.deepEqual(user.restrictedReason, { type: "anonymous" });
  assert.equal(user.primaryEmail, null);
  assert.equal((await app.getUser({ or: "anonymous" })).id, user.id);
  assert.equal(await app.getUser(), null);
  assert.notEqual((await w.client().getUser({ or: "anonymous" })).id, user.id);
});

test("an anonymous user who signs up with a password keeps the id", async () => {
  const app = w.client();
  const { id } = await app.getUser({ or: "anonymous" });
  const email = newAddress();
  ok(await app.signUpWithCredential({ email, password: PASSWORD, noVerificationCallback: true, noRedirect: true }));
  const user = await app.getUser();
  assert.equal(user.id, id);
  assert.equal(user.isAnonymous, false);
  assert.equal(user.isRestricted, false);
  assert.equal((await w.signedIn(email)).user.id, id);
});

test("an anonymous user who signs in by link for the first time keeps the id", async () => {
  const app = w.client();
  const { id } = await app.getUser({ or: "anonymous" });
  const email = newAddress();
  ok(await app.sendMagicLinkEmail(email, { callbackUrl: CALLBACK }));
  ok(await app.signInWithMagicLink(linkOf(await w.inbox.next(email)).code, { noRedirect: true }));
  const user = await app.getUser();
  assert.equal(user.id, id);
  assert.equal(user.primaryEmail, email);
  assert.equal(user.isAnonymous, false);
});
