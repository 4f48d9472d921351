// The surroundings of these tests: a gateway, its emails, the app, and a browser.

import { after, before } from "node:test";

import { launch } from "../../browser/chromium.js";
import { configure, startGateway } from "../../support/gateway.js";
import { Inbox } from "../../support/inbox.js";
import { until } from "../../support/until.js";
import { Person } from "./person.js";
import { startSite } from "./site.js";

export const PASSWORD = "correct horse battery";
/** A picture to upload, ten by ten pixels. */
export const PICTURE = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAIAAAACUFjqAAAAEklEQVR4nGP4z8CAB+GTG8HSALfKY52fTcuYAAAAAElFTkSuQmCC", "base64");
let addresses = 0;

/** An unused address. */
export function newAddress(name = "user") {
  addresses += 1;
  return `${name}.${process.pid}.${addresses}@example.com`;
}

/**
 * Starts everything before a file's tests, and stops it afterwards. `config` is the project's
 * configuration; `options` are the SDK's.
 */
export function world({ config = {}, options = { devTool: false }, settings = {} } = {}) {
  const it = {};
  it.started = start(it, { config, options, settings });
  before(() => it.started);
  after(async () => {
    await it.browser?.close();
    await it.site?.stop();
    await it.gateway?.stop();
  });
  it.arrive = (t) => Person.arrive(t, it.browser, it.site);
  it.codeTo = (address) => until(async () => (await it.inbox.all(address)).map(({ subject }) => subject.match(/([0-9A-Z]{6})$/)?.[1]).find(Boolean), `a code to ${address}`);
  it.linkTo = (address, page) => linkTo(it.inbox, address, page);

  /** A user with a new account, verified with an emailed link. */
  it.member = async (t, email = newAddress()) => {
    const person = await it.arrive(t);
    await person.signUp(email, PASSWORD);
    await person.is(`${email} unverified`);
    await person.page.goto(await it.linkTo(email, "/handler/email-verification"));
    await person.click("Verify");
    await person.click("Go home");
    await person.is(`${email} verified`);
    return Object.assign(person, { email });
  };
  return it;
}

async function start(it, { config, options, settings }) {
  it.gateway = await startGateway(settings);
  await configure(it.gateway, { magic_link_enabled: true, client_team_creation_enabled: true, client_user_deletion_enabled: true, ...config });
  it.inbox = new Inbox(it.gateway);
  const { url: baseUrl, projectId, publishableClientKey } = it.gateway;
  it.site = await startSite({ baseUrl, projectId, publishableClientKey, ...options });
  it.browser = await launch();
}

const used = new Set();

/**
 * Waits for an email to an address with a link to this page of the app; returns the oldest such
 * link not returned before.
 */
async function linkTo(inbox, address, page) {
  const link = await until(async () => {
    const links = (await inbox.all(address)).flatMap(({ text }) => text.match(/https?:\/\/\S+/g) ?? []);
    return links.find((link) => new URL(link).pathname === page && !used.has(link));
  }, `a link to ${page} for ${address}`);
  used.add(link);
  return link;
}

