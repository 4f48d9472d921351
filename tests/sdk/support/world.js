// The surroundings that the test files share: a gateway, its emails, and apps of the SDK in the
// version that SDK names.

import assert from "node:assert/strict";
import { after, before } from "node:test";

import { track } from "../members/track.js";
import { startGateway } from "./gateway.js";
import { Inbox, linkOf } from "./inbox.js";

export const version = process.env.SDK;
if (!version) throw new Error("SDK is not set: start these tests with tests/sdk/run or tests/sdk/browser/run");
/** The package. */
export const sdk = track(await import(`../${version}/sdk.js`), "exports");
const { StackAdminApp, StackClientApp, StackServerApp } = sdk;

export const PASSWORD = "correct horse battery";
/** The target of emailed links; a gateway's first project trusts localhost. */
export const CALLBACK = "http://localhost:3000/callback?from=mail";

let addresses = 0;

/** An unused address. */
export function newAddress(name = "user") {
  addresses += 1;
  return `${name}.${process.pid}.${addresses}@example.com`;
}

/**
 * Starts a gateway with these environment variables before a file's tests, and stops it afterwards.
 */
export function world(settings) {
  const it = {};
  // The hooks of a file run at the same time, so hooks that need the gateway await `started`.
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

  /** A client app with an empty token store, like a fresh browser. */
  it.client = (more) => track(new StackClientApp(options(more)), "StackClientApp");
  it.server = (more) => track(new StackServerApp(options({ secretServerKey: it.gateway.secretServerKey, ...more })), "StackServerApp");
  it.admin = (more) => {
    const { secretServerKey, superSecretAdminKey } = it.gateway;
    return track(new StackAdminApp(options({ secretServerKey, superSecretAdminKey, ...more })), "StackAdminApp");
  };

  /** A client app with a new account with a password. */
  it.signedUp = async (email = newAddress(), password = PASSWORD) => {
    const app = it.client();
    ok(await app.signUpWithCredential({ email, password, noVerificationCallback: true, noRedirect: true }));
    return { app, email, user: await app.getUser({ or: "throw" }) };
  };

  /** A client app signed in to an account. */
  it.signedIn = async (email, password = PASSWORD) => {
    const app = it.client();
    ok(await app.signInWithCredential({ email, password, noRedirect: true }));
    return { app, email, user: await app.getUser({ or: "throw" }) };
  };

  /**
   * A client app with a new account without a password, verified through the link that signed it
   * up.
   */
  it.signedUpByLink = async (email = newAddress()) => {
    const app = it.client();
    ok(await app.sendMagicLinkEmail(email, { callbackUrl: CALLBACK }));
    ok(await app.signInWithMagicLink(linkOf(await it.inbox.next(email)).code, { noRedirect: true }));
    return { app, email, user: await app.getUser({ or: "throw" }) };
  };

  /** A client app with only a refresh token; it has no user if its session has ended. */
  it.returning = (refreshToken) => it.client({ tokenStore: { accessToken: "", refreshToken } });

  /** The result of a sign-in with a password: "ok" or an error code. */
  it.tryPassword = async (email, password) => {
    const result = await it.client().signInWithCredential({ email, password, noRedirect: true });
    return result.status === "ok" ? "ok" : result.error.errorCode;
  };
  return it;
}

/** A result's data; it must be a success. */
export function ok(result) {
  assert.equal(result?.status, "ok", `an error: ${result?.error}`);
  return result.data;
}

/** Asserts that a result is an error with this code. */
export function refused(result, code) {
  assert.equal(result?.status, "error");
  assert.equal(result.error.errorCode, code);
  return result.error;
}

/** Asserts that a call throws the known error with this code. */
export async function throwsCode(call, code) {
  await assert.rejects(call, (error) => {
    assert.equal(error.errorCode, code, `${error}`);
    return true;
  });
}
