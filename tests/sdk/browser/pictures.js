// Renders every built-in email with the preview operation. Takes screenshots of these emails, of
// the pages behind links, and of the gateway's pages.

import { startGateway } from "../support/gateway.js";
import { Inbox } from "../support/inbox.js";
import { launch } from "./chromium.js";

const folder = process.argv[2];
const gateway = await startGateway();
const inbox = new Inbox(gateway);
const browser = await launch();
const headers = {
  "content-type": "application/json",
  "x-service-access-type": "admin",
  "x-service-project-id": gateway.projectId,
  "x-service-super-secret-admin-key": gateway.superSecretAdminKey,
};

async function api(method, path, body) {
  const answer = await fetch(`${gateway.url}/api/v1${path}`, { method, headers, body: body && JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${method} ${path}: ${await answer.text()}`);
  return answer.json();
}

async function picture(name, show) {
  for (const colorScheme of ["light", "dark"]) {
    for (const width of [320, 800]) {
      const context = await browser.newContext({ colorScheme, viewport: { width, height: 640 } });
      const page = await context.newPage();
      await page.goto(gateway.startPage);
      await show(page);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      if (wide > width) console.log(`${name} is ${wide} px wide in a window of ${width} px`);
      await page.screenshot({ path: `${folder}/${name}-${colorScheme}-${width}.png`, fullPage: true });
      await context.close();
    }
  }
}

try {
  const { templates } = await api("GET", "/internal/email-templates");
  for (const { id, display_name: name } of templates) {
    const { html } = await api("POST", "/emails/render-email", { template_id: id });
    await picture(name.toLowerCase().replaceAll(" ", "-"), (page) => page.setContent(html));
  }
  const { id } = await api("POST", "/internal/email-templates", { display_name: "Offer", notification_category_name: "Marketing" });
  const { html } = await api("POST", "/emails/render-email", { template_id: id });
  await picture("marketing", (page) => page.setContent(html));

  const user = await api("POST", "/users", { primary_email: "ada@example.com", primary_email_verified: true, primary_email_auth_enabled: true });
  const mail = (fields) => api("POST", "/emails/send-email", { user_ids: [user.id], subject: "Greetings", html: "<h1>Hello</h1><p>What is new?</p>", ...fields });
  await mail({ notification_category_name: "Marketing" });
  await mail({ subject: "Later", scheduled_at_millis: Date.now() + 7_200_000 });
  await mail({ subject: "Broken", html: "{{ variables.nothing }}" });
  let sent = [];
  for (const end = Date.now() + 10_000; sent.length === 0 && Date.now() < end;) {
    sent = (await inbox.list({})).items;
  }
  const link = sent[0].text.match(/https?:\S+unsubscribe-link\?code=\w+/)[0];
  await picture("unsubscribe", (page) => page.goto(link));
  await api("PATCH", `/users/${user.id}`, { password: "a better horse battery" });
  let told;
  for (const end = Date.now() + 10_000; !told && Date.now() < end;) {
    const { items } = await inbox.list({});
    told = items.find(({ subject }) => subject.endsWith(" was changed"));
  }
  const notMe = told.text.match(/https?:\S+not-me-link\?code=\w+/)[0];
  await picture("not-me", (page) => page.goto(notMe));
  await fetch(notMe, { method: "POST" });
  await picture("not-me-used", (page) => page.goto(notMe));
  for (const path of ["inbox", `inbox/${sent[0].id}`, "outbox", `outbox/${gateway.projectId}/${sent[0].outbox_id}`, "docs", "docs/api", "docs/errors"]) {
    await picture(`page-${path.split("/").slice(0, 2).join("-")}`, (page) => page.goto(`${gateway.url}/${path}`));
  }
} finally {
  await browser.close();
  await gateway.stop();
}
