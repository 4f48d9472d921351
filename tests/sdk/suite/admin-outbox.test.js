// The outbox for administrators.

import assert from "node:assert/strict";
import { test } from "node:test";

import { world } from "../support/world.js";

const w = world();

/** A user with an email due in an hour. */
async function scheduled() {
  const { user } = await w.signedUp();
  const server = w.server();
  await server.sendEmail({ userIds: [user.id], subject: "News", html: "<p>News</p>", scheduledAt: new Date(Date.now() + 3_600_000) });
  const { items } = await w.admin().listOutboxEmails();
  const it = items.find(({ to }) => to.userId === user.id);
  assert.ok(it, `the email in ${JSON.stringify(items)}`);
  return it;
}

test("an email in the outbox is read, changed, paused, released and cancelled", async () => {
  const admin = w.admin();
  const it = await scheduled();
  const read = await admin.getOutboxEmail(it.id);
  assert.deepEqual([read.id, read.tsxSource, it.tsxSource], [it.id, "<p>News</p>", "<p>News</p>"]);
  assert.equal((await admin.updateOutboxEmail(it.id, { tsxSource: "<p>More news</p>" })).tsxSource, "<p>More news</p>");
  assert.equal((await admin.getOutboxEmail(it.id)).tsxSource, "<p>More news</p>");
  const later = new Date(Date.now() + 7_200_000);
  await admin.updateOutboxEmail(it.id, { scheduledAtMillis: later.getTime() });
  assert.equal((await admin.getOutboxEmail(it.id)).scheduledAt.getTime(), later.getTime());
  assert.equal((await admin.pauseOutboxEmail(it.id)).isPaused, true);
  assert.equal((await admin.unpauseOutboxEmail(it.id)).isPaused, false);
  await admin.cancelOutboxEmail(it.id);
  assert.equal((await admin.getOutboxEmail(it.id)).status, "skipped");
});
