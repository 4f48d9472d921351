// The surroundings of the passkey tests: a project with passkeys, a site with the app, and visitors
// whose devices are Chromium's virtual authenticators.

import { configure } from "../support/gateway.js";
import { PASSWORD, newAddress, world } from "../support/world.js";
import { stage } from "./stage.js";

export const w = world();
export const here = stage(w, {
  prepare: (gateway) => configure(gateway, { passkey_enabled: true, passkey_rp_ids: ["site.localhost"] }),
});

/** Requires user verification by devices until the end of the test. */
export async function requireVerification(t) {
  await configure(w.gateway, { passkey_user_verification: "required" });
  t.after(() => configure(w.gateway, { passkey_user_verification: "preferred" }));
}

/** A page with a device, which verifies its user unless `first` says otherwise. */
export async function device(context, first = {}) {
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  await devtools.send("WebAuthn.enable");
  const addDevice = async (more = {}) => {
    const options = { protocol: "ctap2", transport: "internal", hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true, ...more };
    return (await devtools.send("WebAuthn.addVirtualAuthenticator", { options })).authenticatorId;
  };
  return { page, devtools, addDevice, authenticatorId: await addDevice(first) };
}

/** A browser with a device, showing the app. */
export async function visitor(t, { url = here.site.url, first } = {}) {
  const context = await here.browser.newContext();
  t.after(() => context.close());
  const { page, devtools, addDevice, authenticatorId } = await device(context, first);
  const errors = [];
  page.on("pageerror", (error) => errors.push(`${error}`));
  const it = {
    page,
    context,
    devtools,
    addDevice,
    authenticatorId,
    errors,
    open: async (to = url) => {
      await page.goto(to);
      await page.waitForSelector("body[data-ready]");
    },
    is: (text) => page.waitForFunction((text) => document.querySelector("#who")?.textContent === text, text),
    problem: (code) => page.waitForFunction((code) => document.querySelector("#problem")?.textContent === code, code),
    signUp: async () => {
      const email = newAddress();
      await page.fill("#sign-up [name=email]", email);
      await page.fill("#sign-up [name=password]", PASSWORD);
      await page.click("#sign-up button");
      await it.is(`${email} unverified`);
      await it.open(page.url());
      return email;
    },
    register: async () => {
      await page.click("#register-passkey");
      await page.waitForSelector("#register-passkey[data-done]");
    },
    signOut: async () => {
      await page.click("#sign-out");
      await it.is("nobody");
      await it.open();
    },
    credentials: async (id = authenticatorId) => (await devtools.send("WebAuthn.getCredentials", { authenticatorId: id })).credentials,
  };
  await it.open();
  return it;
}

/** A visitor with an account and a passkey, signed out after `change`. */
export async function member(t, { change, ...options } = {}) {
  const it = await visitor(t, options);
  const email = await it.signUp();
  await it.register();
  await change?.(it);
  await it.signOut();
  return { ...it, email };
}

/** Calls the API from the page, like an app without the SDK. */
export function post(page, path, body, token) {
  const { url, projectId, publishableClientKey } = w.gateway;
  return page.evaluate(async ([url, headers, body]) => {
    const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
    return { status: answer.status, body: await answer.json() };
  }, [`${url}/api/v1${path}`, {
    "content-type": "application/json",
    "x-service-access-type": "client",
    "x-service-project-id": projectId,
    "x-service-publishable-client-key": publishableClientKey,
    ...(token ? { "x-service-access-token": token } : {}),
  }, body]);
}

/** Creates or uses a passkey with the browser's functions. */
export function ceremony(page, kind, options, more = {}) {
  return page.evaluate(async ([kind, options, more]) => {
    const parse = kind === "create" ? "parseCreationOptionsFromJSON" : "parseRequestOptionsFromJSON";
    const credential = await navigator.credentials[kind]({ publicKey: PublicKeyCredential[parse](options), ...more });
    return credential.toJSON();
  }, [kind, options, more]);
}

export async function signIn(page, body = {}, more = {}) {
  const { body: started } = await post(page, "/auth/passkey/initiate-passkey-authentication", body);
  const options = body.rp_id ? started.options_json : { ...started.options_json, rpId: new URL(page.url()).hostname };
  const authentication_response = await ceremony(page, "get", options, more);
  return post(page, "/auth/passkey/sign-in", { code: started.code, authentication_response });
}
