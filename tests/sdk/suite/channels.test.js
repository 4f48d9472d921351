// The addresses of a user: list, add, change, verify and remove.

import assert from "node:assert/strict";
import { test } from "node:test";

import { linkOf } from "../support/inbox.js";
import { CALLBACK, newAddress, ok, refused, world } from "../support/world.js";

const w = world();

/** The user's channel with this address, as listed now. */
async function channel(user, value) {
  return (await user.listContactChannels()).find((channel) => channel.value === value);
}

test("the address of the sign-up is the first channel", async () => {
  const { email, user } = await w.signedUp();
  const [first, ...others] = await user.listContactChannels();
  assert.equal(others.length, 0);
  const { value, type, isPrimary, isVerified, usedForAuth } = first;
  assert.deepEqual({ value, type, isPrimary, isVerified, usedForAuth }, { value: email, type: "email", isPrimary: true, isVerified: false, usedForAuth: true });
});

test("a channel is added, listed in order, and removed", async () => {
  const { email, user } = await w.signedUp();
  const second = newAddress("second");
  const created = await user.createContactChannel({ type: "email", value: second, usedForAuth: false });
  assert.equal(created.value, second);
  assert.deepEqual((await user.listContactChannels()).map(({ value }) => value), [email, second]);
  const { id, isPrimary, isVerified, usedForAuth } = await channel(user, second);
  assert.deepEqual({ id, isPrimary, isVerified, usedForAuth }, { id: created.id, isPrimary: false, isVerified: false, usedForAuth: false });

  await created.delete();
  assert.deepEqual((await user.listContactChannels()).map(({ value }) => value), [email]);
});

test("a user has an address as a channel only once", async () => {
  const { email, user } = await w.signedUp();
  await assert.rejects(user.createContactChannel({ type: "email", value: email, usedForAuth: false }));
  assert.equal((await user.listContactChannels()).length, 1);
});

test("a new primary channel replaces the old one", async () => {
  const { app, email, user } = await w.signedUp();
  const second = newAddress("second");
  const created = await user.createContactChannel({ type: "email", value: second, usedForAuth: false });
  await created.update({ isPrimary: true });
  assert.equal((await app.getUser()).primaryEmail, second);
  assert.equal((await channel(user, email)).isPrimary, false);
});

test("a channel only signs in while enabled for sign-in and verified", async () => {
  const { app, user } = await w.signedUp();
  const second = newAddress("second");
  const created = await user.createContactChannel({ type: "email", value: second, usedForAuth: false });
  assert.equal(await w.tryPassword(second, "correct horse battery"), "EMAIL_PASSWORD_MISMATCH");
  await created.update({ usedForAuth: true });
  assert.equal(await w.tryPassword(second, "correct horse battery"), "EMAIL_PASSWORD_MISMATCH");
  await created.sendVerificationEmail({ callbackUrl: CALLBACK });
  ok(await app.verifyEmail(linkOf(await w.inbox.next(second)).code));
  assert.equal((await w.signedIn(second)).user.id, user.id);
  await (await channel(user, second)).update({ usedForAuth: false });
  assert.equal(await w.tryPassword(second, "correct horse battery"), "EMAIL_PASSWORD_MISMATCH");
});

test("a channel whose address changes is no longer verified", async () => {
  const { user, email } = await w.signedUpByLink();
  const [verified] = await user.listContactChannels();
  assert.equal(verified.isVerified, true);
  const moved = newAddress("moved");
  await verified.update({ value: moved });
  assert.equal((await channel(user, moved)).isVerified, false);
  assert.equal(await channel(user, email), undefined);
});

test("a channel is verified by the link in its email", async () => {
  const { app, email, user } = await w.signedUp();
  const second = newAddress("second");
  const created = await user.createContactChannel({ type: "email", value: second, usedForAuth: false });
  await created.sendVerificationEmail({ callbackUrl: CALLBACK });
  const { code } = linkOf(await w.inbox.next(second));
  ok(await app.verifyEmail(code));
  assert.equal((await channel(user, second)).isVerified, true);
  assert.equal((await app.getUser()).primaryEmailVerified, false);
  // The SDK hides the error of the second request, but the inbox shows that it was rejected.
  await created.sendVerificationEmail({ callbackUrl: CALLBACK });
  await user.sendVerificationEmail({ callbackUrl: CALLBACK });
  await w.inbox.next(email);
  assert.equal((await w.inbox.all(second)).length, 1);
});

test("the primary address is verified by the requested email", async () => {
  const { app, email, user } = await w.signedUp();
  assert.equal(await user.sendVerificationEmail({ callbackUrl: CALLBACK }), undefined);
  const { code } = linkOf(await w.inbox.next(email));
  // The link may open in a browser that has no session.
  ok(await w.client().verifyEmail(code));
  const now = await app.getUser();
  assert.equal(now.primaryEmailVerified, true);
  assert.equal((await now.sendVerificationEmail({ callbackUrl: CALLBACK })).errorCode, "EMAIL_ALREADY_VERIFIED");
});

test("the code of a removed channel verifies nothing", async () => {
  const { app, user } = await w.signedUp();
  const second = newAddress("second");
  const created = await user.createContactChannel({ type: "email", value: second, usedForAuth: false });
  await created.sendVerificationEmail({ callbackUrl: CALLBACK });
  const { code } = linkOf(await w.inbox.next(second));
  await created.delete();
  await assert.rejects(async () => ok(await app.verifyEmail(code)));
  assert.equal(await channel(user, second), undefined);
});

test("a code of another purpose verifies nothing", async () => {
  const { app, email } = await w.signedUp();
  ok(await app.sendForgotPasswordEmail(email, { callbackUrl: CALLBACK }));
  const { code } = linkOf(await w.inbox.next(email));
  refused(await app.verifyEmail(code), "VERIFICATION_CODE_NOT_FOUND");
  assert.equal((await app.getUser()).primaryEmailVerified, false);
});
