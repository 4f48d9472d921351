// Accounts with a password: sign-up, sign-in, changing the password, and resetting it.

import assert from "node:assert/strict";
import { test } from "node:test";

import { linkOf } from "../support/inbox.js";
import { CALLBACK, PASSWORD, newAddress, ok, refused, world } from "../support/world.js";

const w = world();

test("a sign-up starts a session, and the user can sign in elsewhere", async () => {
  const { app, email, user } = await w.signedUp();
  assert.equal(user.primaryEmail, email);
  assert.equal(user.primaryEmailVerified, false);
  assert.equal(user.hasPassword, true);
  assert.equal(user.emailAuthEnabled, true);
  assert.equal(user.otpAuthEnabled, false);
  assert.equal(user.isAnonymous, false);
  assert.ok(Math.abs(user.signedUpAt - Date.now()) < 60_000);

  const elsewhere = await w.signedIn(email);
  assert.equal(elsewhere.user.id, user.id);
  assert.notEqual(await elsewhere.app.getRefreshToken(), await app.getRefreshToken());
});

test("a wrong password and an unknown address get the same error and no session", async () => {
  const { email } = await w.signedUp();
  const app = w.client();
  const wrong = refused(await app.signInWithCredential({ email, password: "not the password", noRedirect: true }), "EMAIL_PASSWORD_MISMATCH");
  const unknown = refused(
    await app.signInWithCredential({ email: newAddress("nobody"), password: PASSWORD, noRedirect: true }),
    "EMAIL_PASSWORD_MISMATCH",
  );
  assert.equal(wrong.message, unknown.message);
  assert.equal(await app.getUser(), null);
});

test("an address signs up once, in any spelling", async () => {
  const { email, user } = await w.signedUp();
  const again = await w.client().signUpWithCredential({
    email: email.toUpperCase(),
    password: "another good password",
    noVerificationCallback: true,
    noRedirect: true,
  });
  refused(again, "USER_EMAIL_ALREADY_EXISTS");
  assert.equal(await w.tryPassword(email, "another good password"), "EMAIL_PASSWORD_MISMATCH");
  assert.equal((await w.signedIn(email)).user.id, user.id);
});

test("a password that is too short is rejected", async () => {
  const email = newAddress();
  const app = w.client();
  const error = refused(await app.signUpWithCredential({ email, password: "short", noVerificationCallback: true, noRedirect: true }), "PASSWORD_TOO_SHORT");
  assert.deepEqual(error.details, { min_length: 8 });
  assert.equal(await app.getUser(), null);
  await w.signedUp(email);
});

test("a common password is rejected with an error that the SDK knows", async () => {
  const email = newAddress();
  const app = w.client();
  const error = refused(await app.signUpWithCredential({ email, password: "Password1", noVerificationCallback: true, noRedirect: true }), "PASSWORD_REQUIREMENTS_NOT_MET");
  assert.equal(error.details.reason, "common");
  assert.equal(error.message, error.details.message);
  assert.equal(await app.getUser(), null);
  const { user } = await w.signedUp(email);
  const weak = await user.updatePassword({ oldPassword: PASSWORD, newPassword: "abcdefgh" });
  assert.deepEqual([weak.errorCode, weak.details.reason], ["PASSWORD_REQUIREMENTS_NOT_MET", "sequence"]);
});

test("sign-up sends the verification email if it has a callback URL", async () => {
  const email = newAddress();
  const app = w.client();
  ok(await app.signUpWithCredential({ email, password: PASSWORD, verificationCallbackUrl: CALLBACK, noRedirect: true }));
  const mail = await w.inbox.next(email);
  assert.deepEqual(mail.to, [email]);
  const { url, code } = linkOf(mail);
  assert.equal(`${url.origin}${url.pathname}`, "http://localhost:3000/callback");
  assert.equal(url.searchParams.get("from"), "mail");

  assert.equal((await app.getUser()).primaryEmailVerified, false);
  ok(await app.verifyEmail(code));
  assert.equal((await app.getUser()).primaryEmailVerified, true);
  refused(await app.verifyEmail(code), "VERIFICATION_CODE_ALREADY_USED");
});

test("a link to an untrusted page is rejected", async () => {
  const email = newAddress();
  const app = w.client();
  const result = app.signUpWithCredential({ email, password: PASSWORD, verificationCallbackUrl: "https://evil.example/", noRedirect: true });
  await assert.rejects(result, (error) => error.errorCode === "REDIRECT_URL_NOT_WHITELISTED");
  assert.equal(await w.tryPassword(email, PASSWORD), "EMAIL_PASSWORD_MISMATCH");
});

test("a changed password replaces the old one and ends the other sessions", async () => {
  const { app, email, user } = await w.signedUp();
  const other = await w.signedIn(email);
  const [mine, theirs] = [await app.getRefreshToken(), await other.app.getRefreshToken()];

  assert.equal(await user.updatePassword({ oldPassword: PASSWORD, newPassword: "a second password" }), undefined);
  assert.equal(await w.tryPassword(email, PASSWORD), "EMAIL_PASSWORD_MISMATCH");
  assert.equal(await w.tryPassword(email, "a second password"), "ok");
  assert.equal((await w.returning(mine).getUser())?.id, user.id);
  assert.equal(await w.returning(theirs).getUser(), null);
});

test("a password is not changed without the old one, nor to a short one", async () => {
  const { email, user } = await w.signedUp();
  const wrong = await user.updatePassword({ oldPassword: "not the password", newPassword: "a second password" });
  assert.equal(wrong.errorCode, "PASSWORD_CONFIRMATION_MISMATCH");
  const short = await user.updatePassword({ oldPassword: PASSWORD, newPassword: "short" });
  assert.equal(short.errorCode, "PASSWORD_TOO_SHORT");
  assert.equal(await w.tryPassword(email, PASSWORD), "ok");
});

test("a forgotten password is reset by an emailed link, which ends all sessions", async () => {
  const { app, email } = await w.signedUp();
  const refreshToken = await app.getRefreshToken();
  const visitor = w.client();
  ok(await visitor.sendForgotPasswordEmail(email, { callbackUrl: CALLBACK }));
  const { code } = linkOf(await w.inbox.next(email));

  ok(await visitor.verifyPasswordResetCode(code));
  ok(await visitor.resetPassword({ code, password: "a password after reset" }));
  assert.equal(await w.tryPassword(email, PASSWORD), "EMAIL_PASSWORD_MISMATCH");
  assert.equal(await w.tryPassword(email, "a password after reset"), "ok");
  assert.equal(await w.returning(refreshToken).getUser(), null);
  refused(await visitor.verifyPasswordResetCode(code), "VERIFICATION_CODE_ALREADY_USED");
  refused(await visitor.resetPassword({ code, password: "yet another password" }), "VERIFICATION_CODE_ALREADY_USED");
});

test("an unknown reset link is rejected, and unknown addresses look like known ones", async () => {
  const app = w.client();
  refused(await app.verifyPasswordResetCode("0".repeat(45)), "VERIFICATION_CODE_NOT_FOUND");
  refused(await app.resetPassword({ code: "0".repeat(45), password: PASSWORD }), "VERIFICATION_CODE_NOT_FOUND");
  const nobody = newAddress("nobody");
  ok(await app.sendForgotPasswordEmail(nobody, { callbackUrl: CALLBACK }));
  // A later email arrives, which shows that no email was sent to the unknown address before.
  const { email } = await w.signedUp();
  ok(await app.sendForgotPasswordEmail(email, { callbackUrl: CALLBACK }));
  await w.inbox.next(email);
  assert.deepEqual(await w.inbox.all(nobody), []);
});

test("a user who signed up by link can set a first password", async () => {
  const { app, email, user } = await w.signedUpByLink();
  assert.equal(user.hasPassword, false);
  assert.equal((await user.setPassword({ password: "short" }))?.errorCode, "PASSWORD_TOO_SHORT");
  assert.equal(await user.setPassword({ password: "a first password" }), undefined);
  assert.equal((await app.getUser()).hasPassword, true);
  assert.equal(await w.tryPassword(email, "a first password"), "ok");
});
