// A test email, which the project's administrator sends through a mail server.

import assert from "node:assert/strict";
import { test } from "node:test";

import { newCertificate, startMailServer } from "../support/mail-server.js";
import { until } from "../support/until.js";
import { newAddress, ok, world } from "../support/world.js";

const certificate = newCertificate();
// The mail server of these tests is on this machine.
const w = world({ GATELET_ALLOW_PRIVATE_ISSUERS: "1", SSL_CERT_FILE: certificate.file });

const through = (port) => ({ host: "127.0.0.1", port, username: "notes", password: "of the server", senderName: "Notes", senderEmail: "notes@example.com" });

test("a test email is sent through the given mail server", async (t) => {
  const { port, received, logins } = await startMailServer(t, certificate);
  const recipientEmail = newAddress();
  ok(await w.admin().sendTestEmail({ recipientEmail, emailConfig: through(port) }));
  assert.deepEqual(logins, [["notes", "of the server"]]);
  const [text, ...others] = received;
  assert.equal(others.length, 0);
  assert.match(text, /^From: Notes <notes@example\.com>$/m);
  assert.ok(text.includes(`To: ${recipientEmail}`), text);
});

test("the password does not go to a mail server with another certificate", async (t) => {
  const { port, received, logins } = await startMailServer(t, newCertificate());
  const result = await w.admin().sendTestEmail({ recipientEmail: newAddress(), emailConfig: through(port) });
  assert.equal(result.status, "error");
  assert.match(result.error.errorMessage, /certificate/);
  assert.deepEqual([received, logins], [[], []]);
});

test("the attempts to send through a mail server that is away are listed", async () => {
  const admin = w.admin();
  const project = await admin.getProject();
  const { user } = await w.signedUp();
  // No server listens on this port of this machine.
  await project.update({ config: { emailConfig: { type: "standard", ...through(9) } } });
  await admin.sendEmail({ userIds: [user.id], subject: "News", html: "<p>News</p>" });
  const attempts = await until(async () => {
    const { items } = await w.admin().listOutboxEmails();
    return items.find(({ to }) => to.userId === user.id).sendAttemptErrors;
  }, "an attempt to send");
  assert.equal(attempts[0].attemptNumber, 1);
  assert.ok(Date.parse(attempts[0].timestamp) <= Date.now());
});
