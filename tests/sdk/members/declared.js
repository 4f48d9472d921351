// The expected behaviour of SDK members that do not work in the suite, and the number of members.
// Each pattern must match members, and all of these must behave as declared.

/** The number of members in each version; a release that adds one changes it. */
export const COUNTS = {
  "2.8.77": { methods: 615, properties: 560 },
  "2.8.108": { methods: 633, properties: 582 },
};

/**
 * Features that the service lacks. suite/not-there.test.js calls their members: each returns "none"
 * or is refused.
 */
export const NOT_THERE = [
  {
    area: "(payments)",
    members: [
      /^(Customer\w*|Item|ServerItem)\./,
      /\.(createCheckoutUrl|createPaymentMethodSetupIntent|setDefaultPaymentMethodFromSetupIntent|switchSubscription)\b/,
      /\.(getBilling|getItem|listProducts|listInvoices|grantProduct|cancelSubscription)$/,
      /^StackAdminApp\.(getStripeAccountInfo|listTransactions|refundTransaction|createItemQuantityChange)\b/,
      /^StackAdminApp\.(setupPayments|createStripeWidgetAccountSession|getPaymentMethodConfigs|updatePaymentMethodConfigs)\b/,
    ],
  },
  { area: "(analytics)", members: [/^StackAdminApp\.queryAnalytics$/] },
  {
    area: "(session replays)",
    members: [/^StackAdminApp\.(listSessionReplay\w*|getSessionReplay\w*)$/, /^(ListSessionReplay\w*|AdminSessionReplay\w*|SessionReplay\w*)\./],
  },
  { area: "(data vault)", members: [/^DataVaultStore\./, /\.getDataVaultStore$/] },
  { area: "(managed email domains)", members: [/^StackAdminApp\.\w*ManagedEmail\w*\b/, /^ManagedEmail\w*\./] },
  { area: "(assistant for templates)", members: [/^StackAdminApp\.(saveChatMessage|listChatMessages|rewriteTemplateSourceWithAI)\b/] },
];

/** Members of other features whose calls all fail in the suite. */
export const REFUSED = [
  {
    why: "connections in the suite have no token; tests/oidc/browser.test.js reads the token of one that has",
    members: [/^OAuthConnection\.getAccessToken$/],
  },
  {
    why: "the SDK needs a browser, and says so: tests/oidc/browser.test.js and browser/every-type.test.js call them in one",
    members: [/^Stack\w+App\.(signInWithOAuth|callOAuthCallback|signInWithPasskey)$/],
  },
  {
    why: "the SDK calls no such operation for a server, and says so",
    members: [/Server\w*User\.(sendVerificationEmail|linkConnectedAccount|getOrLinkConnectedAccount)$/],
  },
  {
    why: "for a server, the SDK sends these requests as a client and without a session",
    members: [/Server\w*User\.(leaveTeam|updatePassword)$/],
  },
];

/** Members that the suite does not use. */
export const ELSEWHERE = [
  { why: "belongs to an item that was bought, and nothing can be bought", members: [/^ServerItem\./] },
  { why: "needs a browser: browser/every-type.test.js and browser/passkey-devices.test.js call it", members: [/\.registerPasskey$/] },
  { why: "need a browser and a provider: tests/oidc/browser.test.js calls them", members: [/^Current(Internal)?User\.(linkConnectedAccount|getOrLinkConnectedAccount)$/] },
  { why: "need a token of a provider: tests/oidc/browser.test.js reads one", members: [/^DeprecatedOAuthConnection\./, /^OAuthConnection\.getAccessToken\./] },
  { why: "the SDK makes no value of these types", members: [/^SyncedPartial(Server)?User\./] },
];

/** Values that the SDK gives, although the declarations do not allow them. */
export const UNDECLARED = [
  { why: "a template without a theme, as updateEmailTemplate takes it", member: "StackAdminApp.listEmailTemplates.themeId", kind: "boolean" },
];
