// What every test file works with: a gateway, its mails, and apps of the SDK in the version that SDK names.

import assert from "node:assert/strict";
import { after, before } from "node:test";

import { startGateway } from "./gateway.js";
import { Inbox, linkOf } from "./inbox.js";

export const version = process.env.SDK;
if (!version) throw new Error("SDK is not set: these tests are started by tests/sdk/run");
const { StackAdminApp, StackClientApp, StackServerApp } = await import(`../${version}/sdk.js`);

export const PASSWORD = "correct horse battery";
/** Where links of mails lead; localhost is trusted by the first project of a gateway. */
export const CALLBACK = "http://localhost:3000/callback?from=mail";

let addresses = 0;

/** An address that nobody has yet. */
export function newAddress(name = "user") {
  addresses += 1;
  return `${name}.${process.pid}.${addresses}@example.com`;
}

/** Starts a gateway, with these variables in its environment, before the tests of a file and stops it after them. */
export function world(settings) {
  const it = {};
  // Hooks of one file do not wait for each other, so what needs the gateway awaits this.
  it.started = startGateway(settings).then((gateway) => {
    it.gateway = gateway;
    it.inbox = new Inbox(gateway);
  });
  before(() => it.started);
  after(() => it.gateway?.stop());

  const options = (more) => {
    const { url, projectId, publishableClientKey } = it.gateway;
    return { baseUrl: url, projectId, publishableClientKey, tokenStore: "memory", redirectMethod: "none", ...more };
  };

  /** A client app with an empty memory of its own, as a browser that was never here before. */
  it.client = (more) => new StackClientApp(options(more));
  it.server = (more) => new StackServerApp(options({ secretServerKey: it.gateway.secretServerKey, ...more }));
  it.admin = () => {
    const { secretServerKey, superSecretAdminKey } = it.gateway;
    return new StackAdminApp(options({ secretServerKey, superSecretAdminKey }));
  };

  /** A client app with a new account that has a password. */
  it.signedUp = async (email = newAddress(), password = PASSWORD) => {
    const app = it.client();
    ok(await app.signUpWithCredential({ email, password, noVerificationCallback: true, noRedirect: true }));
    return { app, email, user: await app.getUser({ or: "throw" }) };
  };

  /** A client app that signed in to an account. */
  it.signedIn = async (email, password = PASSWORD) => {
    const app = it.client();
    ok(await app.signInWithCredential({ email, password, noRedirect: true }));
    return { app, email, user: await app.getUser({ or: "throw" }) };
  };

  /** A client app with a new account that has no password: its address is verified by the link that it signed up with. */
  it.signedUpByLink = async (email = newAddress()) => {
    const app = it.client();
    ok(await app.sendMagicLinkEmail(email, { callbackUrl: CALLBACK }));
    ok(await app.signInWithMagicLink(linkOf(await it.inbox.next(email)).code, { noRedirect: true }));
    return { app, email, user: await app.getUser({ or: "throw" }) };
  };

  /** A client app that comes back with nothing but a refresh token; it has no user when that session has ended. */
  it.returning = (refreshToken) => it.client({ tokenStore: { accessToken: "", refreshToken } });

  /** What a sign-in with a password comes to: "ok" or the code of the refusal. */
  it.tryPassword = async (email, password) => {
    const result = await it.client().signInWithCredential({ email, password, noRedirect: true });
    return result.status === "ok" ? "ok" : result.error.errorCode;
  };
  return it;
}

/** The data of a result that must be one. */
export function ok(result) {
  assert.equal(result?.status, "ok", `an error: ${result?.error}`);
  return result.data;
}

/** A result that must be a refusal, by its code. */
export function refused(result, code) {
  assert.equal(result?.status, "error");
  assert.equal(result.error.errorCode, code);
  return result.error;
}

/** A call that must be refused by throwing, by the code of the known error. */
export async function throwsCode(call, code) {
  await assert.rejects(call, (error) => {
    assert.equal(error.errorCode, code, `${error}`);
    return true;
  });
}
