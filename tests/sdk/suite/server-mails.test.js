// The emails that a server sends to its users, as the inbox receives them.

import assert from "node:assert/strict";
import { test } from "node:test";

import { until } from "../support/until.js";
import { throwsCode, world } from "../support/world.js";

const w = world();

test("an email reaches exactly the named users, each at their own address", async () => {
  const server = w.server();
  const [ada, grace, other] = [await w.signedUp(), await w.signedUp(), await w.signedUp()];
  await server.sendEmail({ userIds: [ada.user.id, grace.user.id], subject: "News for you", html: "<p>Hello &amp; <b>welcome</b></p>" });
  for (const { email } of [ada, grace]) {
    const mail = await w.inbox.next(email);
    assert.equal(mail.subject, "News for you");
    assert.deepEqual(mail.to, [email]);
    assert.match(mail.html, /<p>Hello &amp; <b>welcome<\/b><\/p>/);
    assert.match(mail.text, /Hello & (\*\*)?welcome/);
  }
  assert.deepEqual(await w.inbox.all(other.email), []);
});

test("an email to all users reaches all of them", async () => {
  const server = w.server();
  const users = [await w.signedUp(), await w.signedUp()];
  await server.sendEmail({ allUsers: true, subject: "To all", html: "<p>Hello</p>" });
  for (const { email } of users) assert.equal((await w.inbox.next(email)).subject, "To all");
});

test("an email is not sent before its time", async () => {
  const server = w.server();
  const { email, user } = await w.signedUp();
  const scheduledAt = new Date(Date.now() + 20_000);
  await server.sendEmail({ userIds: [user.id], subject: "Later", html: "<p>Later</p>", scheduledAt });
  await server.sendEmail({ userIds: [user.id], subject: "Now", html: "<p>Now</p>" });
  assert.equal((await w.inbox.next(email)).subject, "Now");
  const later = await w.inbox.next(email);
  assert.equal(later.subject, "Later");
  assert.ok(later.sent_at_millis >= scheduledAt.getTime());
});

test("nothing is sent if one of the users does not exist", async () => {
  const server = w.server();
  const { email, user } = await w.signedUp();
  const nobody = "3142e763-b230-44b5-8636-aa62f7489c26";
  await throwsCode(server.sendEmail({ userIds: [user.id, nobody], subject: "Lost", html: "<p>Lost</p>" }), "USER_ID_DOES_NOT_EXIST");
  await server.sendEmail({ userIds: [user.id], subject: "Found", html: "<p>Found</p>" });
  assert.equal((await w.inbox.next(email)).subject, "Found");
  assert.equal((await w.inbox.all(email)).length, 1);
});

test("the delivery statistics count sent emails", async () => {
  const server = w.server();
  const { email, user } = await w.signedUp();
  const before = await server.getEmailDeliveryStats();
  for (const subject of ["One", "Two"]) {
    await server.sendEmail({ userIds: [user.id], subject, html: "<p>Counted</p>" });
    await w.inbox.next(email);
  }
  // Emails are counted shortly after they have been sent.
  const sent = before.stats.hour.sent + 2;
  await until(async () => (await server.getEmailDeliveryStats()).stats.hour.sent === sent, `${sent} emails are counted`);
  const { stats, capacity } = await server.getEmailDeliveryStats();
  for (const window of ["hour", "day", "week", "month"]) {
    assert.ok(stats[window].sent >= sent);
    assert.equal(stats[window].bounced, 0);
    assert.equal(stats[window].marked_as_spam, 0);
  }
  assert.ok(capacity.rate_per_second > 0);
  assert.equal(capacity.is_boost_active, false);
  assert.equal(capacity.boost_expires_at, null);
});
