// A provider that accepts client secrets only in the body, and that includes email addresses in ID
// tokens.

import assert from "node:assert/strict";
import { test } from "node:test";

import { world } from "./support/world.js";

const w = world({ client: "post", provider: { clientAuthMethods: ["client_secret_post"], conformIdTokenClaims: false } });

test("client authentication in the body works, with claims from the ID token", async () => {
  const ada = w.provider.account("ada", { email: "ada@example.com", email_verified: true, name: "Ada Lovelace" });
  const { me } = await w.signIn(ada);
  assert.deepEqual([me.primary_email, me.primary_email_verified, me.display_name], ["ada@example.com", true, "Ada Lovelace"]);
  const calls = w.provider.asked();
  assert.ok(calls.includes("POST /token"), "the secret is not in a header");
  assert.ok(!calls.some((call) => call.startsWith("GET /me")), "the ID token has all claims");
});
