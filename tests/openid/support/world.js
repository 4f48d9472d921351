// A gateway whose project is the OpenID provider, with its clients and with people who sign in to
// them.

import assert from "node:assert/strict";

import { PASSWORD, newAddress, world as hosted } from "../../hosted/support/world.js";

/** Every scope. */
export const SCOPE = "openid profile email teams permissions offline_access";

/**
 * Starts a gateway and a browser before a file's tests, and stops them afterwards, with these
 * options of the tests of hosted pages.
 */
export function world(options) {
  const it = hosted(options);
  return Object.assign(it, {
    /** Creates a client; returns it with its secret. */
    newClient: (fields) => it.admin("POST", "/internal/oauth-clients", { name: "Notes", client_type: "confidential", ...fields }),
    /** A fresh browser of somebody, which accepts the certificates of the tests' apps. */
    newcomer: async (t) => {
      const browser = await it.visitor(t, { ignoreHTTPSErrors: true });
      return Object.assign(browser, { email: newAddress(), ...steps(browser) });
    },
  });
}

/** What a person does between a client's request and its answer. */
function steps(it) {
  const { page, texts } = it;
  const buttons = (value) => page.locator(`button[name=action][value=${value}]`);
  return {
    /** Goes to a client's authorization URL, and creates an account on the page shown there. */
    signsUpAt: async (url) => {
      await page.goto(url);
      await it.follows(texts.sign_up.link);
      await it.types(texts.field.email, it.email);
      await it.types(texts.field.password, PASSWORD);
      await it.presses(texts.sign_up.submit);
      await buttons("allow").waitFor();
    },
    allows: () => buttons("allow").click(),
    denies: () => buttons("deny").click(),
    /** Asserts that the page asks for consent, and says who asks. */
    isAskedBy: async (client, host) => {
      await buttons("allow").waitFor();
      const text = await page.innerText("main");
      assert.ok(text.includes(client) && text.includes(host), text);
    },
  };
}
