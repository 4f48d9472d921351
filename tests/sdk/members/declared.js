// What is expected of members of the SDK that do not work in the suite, and how many members there
// are. Each pattern must match at least one member that behaves as declared.

/** The numbers of members in each version: a release that adds one changes them. */
export const COUNTS = {
  "2.8.77": { methods: 615, properties: 560 },
  "2.8.108": { methods: 633, properties: 582 },
};

/**
 * Features that the service does not have. Their members are called by suite/not-there.test.js:
 * each returns "none" or is refused.
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

/** Members of other features whose calls in the suite all fail. */
export const REFUSED = [
  {
    why: "a connection that a server adds has no token; tests/oidc/browser.test.js reads the token of one that has",
    members: [/^OAuthConnection\.getAccessToken$/],
  },
];

/** Members that the suite does not call. */
export const ELSEWHERE = [
  { why: "belongs to an item that was bought, and nothing can be bought", members: [/^ServerItem\./] },
  { why: "need a browser: browser/passkeys.test.js and browser/passkey-devices.test.js call them", members: [/\.(signInWithPasskey|registerPasskey)$/] },
  { why: "needs a token of a provider: tests/oidc/browser.test.js reads one", members: [/^DeprecatedOAuthConnection\./] },
  {
    why: "need a browser and a provider: tests/oidc/browser.test.js calls them",
    members: [/\.(signInWithOAuth|callOAuthCallback)$/, /\.(linkConnectedAccount|getOrLinkConnectedAccount)$/],
  },
];
