// Calls for features that the service lacks: payments, analytics, session replays, a data vault,
// managed email domains, and an assistant for templates. Each call returns "none", or rejects with
// the error of the API.

import assert from "node:assert/strict";
import { before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { SERVER_TYPES, USER_TYPES, configureAll, personOf, skips } from "../support/people.js";
import { TIMEOUT_MILLIS } from "../support/until.js";
import { version, world } from "../support/world.js";

const w = world();
const isOld = version === "2.8.77";
let app, user, team;

before(async () => {
  await w.started;
  await configureAll(w, {});
  ({ app, user } = await w.signedUp());
  const { id } = await (await w.server().getUser(user.id)).createTeam({ displayName: "Engines" });
  team = await user.getTeam(id);
});

/** Asserts that a call rejects, and that the error says that the API lacks the operation. */
async function isNotThere(name, call) {
  const late = sleep(TIMEOUT_MILLIS, "nothing", { ref: false });
  const outcome = await Promise.race([call().then((value) => ({ value }), (error) => ({ error })), late]);
  assert.ok(outcome.error, `${name}: ${JSON.stringify(outcome)}`);
  // The SDK does not know these codes, so it puts the whole response into the message.
  assert.match(outcome.error.message, /: (404 \{"code":"ROUTE_NOT_FOUND"|405 \{"code":"METHOD_NOT_ALLOWED")/, `${name}: ${outcome.error.stack}`);
}

async function areNotThere(calls) {
  for (const [name, call] of Object.entries(calls)) await isNotThere(name, call);
}

/** Asserts that a user or team has bought nothing, as seen by its owner or a server. */
async function isNoCustomer(of) {
  assert.deepEqual({ ...await of.getBilling() }, { hasCustomer: false, defaultPaymentMethod: null });
  const products = await of.listProducts();
  assert.deepEqual([[...products], products.nextCursor], [[], null]);
  await areNotThere({
    getItem: () => of.getItem("credits"),
    listInvoices: () => of.listInvoices(),
    createCheckoutUrl: () => of.createCheckoutUrl({ productId: "pro" }),
    createPaymentMethodSetupIntent: () => of.createPaymentMethodSetupIntent(),
    setDefaultPaymentMethodFromSetupIntent: () => of.setDefaultPaymentMethodFromSetupIntent("seti_1"),
    switchSubscription: () => of.switchSubscription({ fromProductId: "pro", toProductId: "free" }),
  });
}

for (const type of Object.keys(USER_TYPES)) {
  test(`${type}: a user is not a customer`, skips(type), async () => {
    const { user: of } = await personOf(w, type);
    await isNoCustomer(of);
    if (SERVER_TYPES.includes(type)) await isNotThere("grantProduct", () => of.grantProduct({ productId: "pro" }));
  });
}

test("teams are not customers, neither to their members nor to servers", async () => {
  for (const of of [team, await w.server().getTeam(team.id)]) await isNoCustomer(of);
});

test("apps find no products, and cannot sell any", async () => {
  const tokenStore = await user.currentSession.getTokens();
  for (const of of [app, w.server({ tokenStore }), w.admin({ tokenStore })]) {
    const products = await of.listProducts({ userId: user.id });
    assert.deepEqual([[...products], products.nextCursor], [[], null]);
    await areNotThere({
      getItem: () => of.getItem({ userId: user.id, itemId: "credits" }),
      listInvoices: () => of.listInvoices({ userId: user.id }),
      "cancelSubscription of a user": () => of.cancelSubscription({ productId: "pro" }),
      "cancelSubscription of a team": () => of.cancelSubscription({ productId: "pro", teamId: team.id }),
    });
  }
  for (const of of [w.server(), w.admin()]) await isNotThere("grantProduct", () => of.grantProduct({ userId: user.id, productId: "pro" }));
});

test("an administrator cannot set up payments", async () => {
  const admin = w.admin();
  await areNotThere({
    getStripeAccountInfo: () => admin.getStripeAccountInfo(),
    setupPayments: () => admin.setupPayments(),
    createStripeWidgetAccountSession: () => admin.createStripeWidgetAccountSession(),
    getPaymentMethodConfigs: () => admin.getPaymentMethodConfigs(),
    updatePaymentMethodConfigs: () => admin.updatePaymentMethodConfigs("config", { card: "on" }),
    listTransactions: () => admin.listTransactions({}),
    refundTransaction: () => admin.refundTransaction({ type: "subscription", id: "purchase", amountUsd: "1", refundEntries: [] }),
    createItemQuantityChange: () => admin.createItemQuantityChange({ userId: user.id, itemId: "credits", quantity: 1 }),
  });
});

test("there are no analytics and no session replays", async () => {
  const admin = w.admin();
  await areNotThere({
    queryAnalytics: () => admin.queryAnalytics({ query: "SELECT 1" }),
    listSessionReplays: () => admin.listSessionReplays(),
    ...(isOld ? {} : { getSessionReplay: () => admin.getSessionReplay("replay") }),
    getSessionReplayEvents: () => admin.getSessionReplayEvents("replay"),
    listSessionReplayChunks: () => admin.listSessionReplayChunks("replay"),
    getSessionReplayChunkEvents: () => admin.getSessionReplayChunkEvents("replay", "chunk"),
  });
});

test("a data vault neither stores nor returns a value", async () => {
  for (const of of [w.server(), w.admin()]) {
    // The SDK creates this object without sending a request.
    const vault = await of.getDataVaultStore("vault");
    await areNotThere({
      setValue: () => vault.setValue("key", "value", { secret: "secret" }),
      getValue: () => vault.getValue("key", { secret: "secret" }),
    });
  }
});

test("there are no managed email domains, and none can be set up", async () => {
  const admin = w.admin();
  assert.deepEqual(await admin.listManagedEmailDomains(), []);
  const domain = { subdomain: "mail.example.com", senderLocalPart: "no-reply" };
  await areNotThere({
    setupManagedEmailProvider: () => admin.setupManagedEmailProvider(domain),
    checkManagedEmailStatus: () => admin.checkManagedEmailStatus({ domainId: "domain", ...domain }),
    applyManagedEmailProvider: () => admin.applyManagedEmailProvider({ domainId: "domain" }),
    ...(isOld ? {} : { deleteManagedEmailDomain: () => admin.deleteManagedEmailDomain({ resendDomainId: "domain" }) }),
  });
});

test("no assistant writes templates", async () => {
  const admin = w.admin();
  await areNotThere({
    saveChatMessage: () => admin.saveChatMessage("thread", { role: "user", content: "a template" }),
    listChatMessages: () => admin.listChatMessages("thread"),
    rewriteTemplateSourceWithAI: () => admin.rewriteTemplateSourceWithAI("<p></p>"),
  });
});
