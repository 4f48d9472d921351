// A gateway with its data in memory and its console, and API calls that prepare and check data.

import { readFile } from "node:fs/promises";
import { after, before } from "node:test";

import { isAccessible, visit } from "../../sdk/browser/visit.js";
import { launch } from "../../sdk/browser/chromium.js";
import { openInternal, startGateway } from "../../sdk/support/gateway.js";
import { TIMEOUT_MILLIS } from "../../sdk/support/until.js";

export { isAccessible };

export const PASSWORD = "correct horse battery";

/** Starts a gateway and a browser before a file's tests, and ends them afterwards. */
export function consoleOf(settings) {
  const it = {};
  it.started = (async () => {
    it.gateway = await startGateway({ GATELET_LIMITS: "off", ...settings });
    it.browser = await launch();
    if (process.env.CONSOLE_FROM_DISK) fromDisk(it.browser);
    it.home = `/console/${it.gateway.projectId}`;
  })();
  before(() => it.started);
  after(async () => {
    await it.browser?.close();
    await it.gateway?.stop();
  });

  /** Opens a console page in a fresh browser, through the printed link. */
  it.open = async (t, path, options) => {
    const visited = await visit(t, it.browser, `${it.gateway.url}${path}`, { startPage: it.gateway.startPage, ...options });
    visited.page.setDefaultTimeout(TIMEOUT_MILLIS);
    it.page = visited.page;
    return visited;
  };

  /** Calls the API as the administrator of the first project. */
  it.call = async (method, path, body) => {
    const answer = await fetch(`${it.gateway.url}/api/v1${path}`, {
      method,
      headers: {
        "content-type": "application/json",
        "x-service-access-type": "admin",
        "x-service-project-id": it.gateway.projectId,
        "x-service-super-secret-admin-key": it.gateway.superSecretAdminKey,
      },
      body: body && JSON.stringify(body),
    });
    const read = await answer.json();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(read)}`);
    return read;
  };

  /** A user of the first project, with a password. */
  let users = 0;
  it.newUser = (fields = {}) => {
    users += 1;
    const address = { primary_email: `person${users}@example.com`, primary_email_auth_enabled: true };
    return it.call("POST", "/users", { ...address, display_name: `Person ${users}`, password: PASSWORD, ...fields });
  };

  /** A user of the project `internal`, who may create projects. */
  it.owner = async (email) => {
    await openInternal(it.gateway);
    const answer = await fetch(`${it.gateway.url}/api/v1/auth/password/sign-up`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "x-service-access-type": "client",
        "x-service-project-id": "internal",
        "x-service-publishable-client-key": it.gateway.internalClientKey,
      },
      body: JSON.stringify({ email, password: PASSWORD }),
    });
    if (!answer.ok) throw new Error(`sign-up of ${email}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  };
  return it;
}

/** Serves the front end from this working copy to new contexts, without a build. */
function fromDisk(browser) {
  const newContext = browser.newContext.bind(browser);
  browser.newContext = async (options) => {
    const context = await newContext(options);
    await context.route("**/console/assets/**", async (route) => {
      const name = new URL(route.request().url()).pathname.split("/").slice(4).join("/");
      const body = await readFile(new URL(`../../../infra/console/web/${name}`, import.meta.url), "utf8");
      await route.fulfill({ body, contentType: name.endsWith(".css") ? "text/css" : "text/javascript" });
    });
    return context;
  };
}

/** Presses a button in the open dialog, typing a name first if asked. */
export async function confirm(page, verb, name) {
  const dialog = page.getByRole("dialog");
  if (name !== undefined) await dialog.getByRole("textbox").fill(name);
  await dialog.getByRole("button", { name: verb, exact: true }).click();
  await dialog.waitFor({ state: "detached" });
}

/** Waits until the page has this heading. */
export function heading(page, name) {
  return page.getByRole("heading", { name, exact: true, level: 1 }).waitFor();
}

/** Follows a link in the list of pages. */
export async function go(page, name) {
  const summary = page.locator(".side summary");
  if (await summary.isVisible()) await summary.click();
  await page.getByRole("navigation", { name: "Project" }).getByRole("link", { name, exact: true }).click();
}
