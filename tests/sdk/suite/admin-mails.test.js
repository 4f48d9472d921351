// Emails through the admin app, such as templates, themes, drafts, previews and invitations. Also
// the email preferences of users.

import assert from "node:assert/strict";
import { test } from "node:test";

import { CALLBACK, newAddress, throwsCode, world } from "../support/world.js";

const w = world();
const MARKETING = "Marketing";

test("a template is created, updated, listed, sent and deleted", async () => {
  const [admin, server] = [w.admin(), w.server()];
  const { email, user } = await w.signedUp();
  const { id } = await admin.createEmailTemplate("Offer");
  const source = "<p>Only for {{ variables.name }}</p>";
  const { renderedHtml } = await admin.updateEmailTemplate(id, source, false);
  assert.equal(renderedHtml, "<p>Only for name</p>");
  await throwsCode(admin.updateEmailTemplate(id, "<p>{{ nobody }}</p>", false), "EMAIL_RENDERING_ERROR");
  const listed = (await admin.listEmailTemplates()).find((template) => template.id === id);
  assert.deepEqual([listed.displayName, listed.themeId, listed.tsxSource], ["Offer", false, source]);
  await server.sendEmail({ userIds: [user.id], templateId: id, subject: "An offer", variables: { name: "you & me" } });
  const mail = await w.inbox.next(email);
  assert.deepEqual([mail.subject, mail.html], ["An offer", "<p>Only for you &amp; me</p>"]);
  await admin.deleteEmailTemplate(id);
  assert.ok((await admin.listEmailTemplates()).every((template) => template.id !== id));
});

test("sent emails are listed with their addresses", async () => {
  const { email, user } = await w.signedUp();
  await w.server().sendEmail({ userIds: [user.id], html: "<p>Hello</p>", subject: "A listed email" });
  await w.inbox.next(email);
  const listed = (await w.admin().listSentEmails()).find((sent) => sent.to?.includes(email));
  assert.equal(listed.subject, "A listed email");
  assert.ok(listed.sentAt instanceof Date);
});

test("an invitation to sign in has the link that the server gives", async () => {
  const email = newAddress();
  await w.admin().sendSignInInvitationEmail(email, CALLBACK);
  const mail = await w.inbox.next(email);
  assert.match(mail.subject, /invited/);
  assert.ok(mail.text.includes(`\n${CALLBACK}\n`), mail.text);
  await throwsCode(w.admin().sendSignInInvitationEmail(email, "https://evil.example/"), "REDIRECT_URL_NOT_WHITELISTED");
});

test("a test email through an unreachable server returns an error message", async () => {
  const emailConfig = { host: "127.0.0.1", port: 25, username: "u", password: "p", senderName: "Notes", senderEmail: "notes@example.com" };
  const result = await w.admin().sendTestEmail({ recipientEmail: newAddress(), emailConfig });
  assert.equal(result.status, "error");
  assert.match(result.error.errorMessage, /no public address|cannot be reached/);
});

test("a theme wraps the emails sent with it", async () => {
  const admin = w.admin();
  const { email, user } = await w.signedUp();
  const { id } = await admin.createEmailTheme("Loud");
  await admin.updateEmailTheme(id, "<u>{{ content }}</u>");
  assert.ok((await admin.listEmailThemes()).some((theme) => theme.id === id && theme.displayName === "Loud"));
  const { id: templateId } = await admin.createEmailTemplate("In the theme");
  await admin.updateEmailTemplate(templateId, "<p>x</p>", id);
  assert.equal((await admin.listEmailTemplates()).find((template) => template.id === templateId).themeId, id);
  await admin.deleteEmailTemplate(templateId);
  const { id: draftId } = await admin.createEmailDraft({ displayName: "In the theme", themeId: id });
  assert.equal((await admin.listEmailDrafts()).find((draft) => draft.id === draftId).themeId, id);
  await admin.deleteEmailDraft(draftId);
  await w.server().sendEmail({ userIds: [user.id], subject: "Themed", html: "<p>x</p>", themeId: id });
  assert.equal((await w.inbox.next(email)).html, "<u><p>x</p></u>");
  const project = await admin.getProject();
  await project.update({ config: { emailTheme: id } });
  await assert.rejects(admin.deleteEmailTheme(id));
  assert.ok((await admin.listEmailThemes()).some((theme) => theme.id === id));
  await project.update({ config: { emailTheme: null } });
  await admin.deleteEmailTheme(id);
  assert.ok((await admin.listEmailThemes()).every((theme) => theme.id !== id));
});

test("a draft is sent, and has the time of sending", async () => {
  const admin = w.admin();
  const { email, user } = await w.signedUp();
  const { id } = await admin.createEmailDraft({ displayName: "News", tsxSource: "<p>Soon</p>" });
  await admin.updateEmailDraft(id, { tsxSource: "<p>Now</p>" });
  const draft = async () => (await admin.listEmailDrafts()).find((one) => one.id === id);
  const { sentAt, tsxSource } = await draft();
  assert.deepEqual([sentAt, tsxSource], [null, "<p>Now</p>"]);
  await w.server().sendEmail({ userIds: [user.id], draftId: id, subject: "News" });
  assert.match((await w.inbox.next(email)).html, /<p>Now<\/p>/);
  await admin.refreshEmailDrafts?.();
  assert.ok(Date.now() - (await draft()).sentAt.getTime() < 60_000);
  await admin.deleteEmailDraft(id);
  assert.equal(await draft(), undefined);
});

test("a preview shows the rendered template, or its error", async () => {
  const admin = w.admin();
  const html = await admin.getEmailPreview({ templateTsxSource: "<p>{{ project.display_name }}</p>", themeTsxSource: "<i>{{ content }}</i>" });
  assert.match(html, /^<i><p>.+<\/p><\/i>$/);
  await throwsCode(admin.getEmailPreview({ templateTsxSource: "{{ variables.nobody }}", themeId: false }), "EMAIL_RENDERING_ERROR");
  await throwsCode(admin.getEmailPreview({ templateTsxSource: "export function EmailTemplate() {}", themeId: false }), "SCHEMA_ERROR");
});

test("a user declines marketing, gets none, and accepts it again", async () => {
  const { email, user } = await w.signedUp();
  const marketing = async () => (await user.listNotificationCategories()).find(({ name }) => name === MARKETING);
  const [all, first] = [await user.listNotificationCategories(), await marketing()];
  assert.deepEqual(all.map(({ name, canDisable, enabled }) => [name, canDisable, enabled]), [["Transactional", false, true], [MARKETING, true, true]]);
  await first.setEnabled(false);
  assert.equal((await marketing()).enabled, false);
  const send = (subject, notificationCategoryName) => w.server().sendEmail({ userIds: [user.id], subject, html: "<p>x</p>", notificationCategoryName });
  await send("Offer", MARKETING);
  await send("Receipt", "Transactional");
  assert.equal((await w.inbox.next(email)).subject, "Receipt");
  const seen = await w.server().getUser(user.id);
  const ofServer = (await seen.listNotificationCategories()).find(({ name }) => name === MARKETING);
  assert.equal(ofServer.enabled, false);
  await ofServer.setEnabled(true);
  await send("Another offer", MARKETING);
  assert.equal((await w.inbox.next(email)).subject, "Another offer");
});

test("the link in an email unsubscribes with one click", async () => {
  const { email, user } = await w.signedUp();
  await w.server().sendEmail({ userIds: [user.id], subject: "Offer", html: "<p>x</p>", notificationCategoryName: MARKETING });
  const [link] = (await w.inbox.next(email)).text.match(/https?:\S+unsubscribe-link\?code=\w{45}/);
  // The host name in a link of a rehearsed deployment can be resolved only on AWS.
  const { pathname, search } = new URL(link);
  const answer = await fetch(`${w.gateway.url}${pathname}${search}`, { method: "POST", body: new URLSearchParams({ "List-Unsubscribe": "One-Click" }) });
  assert.equal(answer.status, 200);
  const marketing = (await user.listNotificationCategories()).find(({ name }) => name === MARKETING);
  assert.equal(marketing.enabled, false);
});

test("a boost multiplies the rate, once", async () => {
  const server = w.server();
  await server.activateEmailCapacityBoost();
  const { capacity } = await server.getEmailDeliveryStats();
  assert.deepEqual([capacity.is_boost_active, capacity.boost_multiplier], [true, 4]);
  assert.ok(new Date(capacity.boost_expires_at).getTime() > Date.now() + 3_600_000);
  await throwsCode(server.activateEmailCapacityBoost(), "EMAIL_CAPACITY_BOOST_ALREADY_ACTIVE");
});
