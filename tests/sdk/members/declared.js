// What is expected of members of the SDK that do not work in the suite. Each pattern must match at
// least one member that behaves as declared.

/**
 * Features that the service does not have. Their members are called by suite/not-there.test.js:
 * each returns "none" or is refused.
 */
export const NOT_THERE = [
  {
    area: "(payments)",
    members: [
      /^Customer\./,
      /^ServerItem\./,
      /\.(getBilling|getItem|listProducts|listInvoices|grantProduct|cancelSubscription)$/,
      /^StackAdminApp\.(getStripeAccountInfo|listTransactions|refundTransaction|createItemQuantityChange)$/,
      /^StackAdminApp\.(setupPayments|createStripeWidgetAccountSession|getPaymentMethodConfigs|updatePaymentMethodConfigs)$/,
    ],
  },
  { area: "(analytics)", members: [/^StackAdminApp\.queryAnalytics$/] },
  { area: "(session replays)", members: [/^StackAdminApp\.(listSessionReplay\w*|getSessionReplay\w*)$/] },
  { area: "(data vault)", members: [/^DataVaultStore\./, /\.getDataVaultStore$/] },
  { area: "(managed email domains)", members: [/^StackAdminApp\.\w*ManagedEmail\w*$/] },
  { area: "(assistant for templates)", members: [/^StackAdminApp\.(saveChatMessage|listChatMessages|rewriteTemplateSourceWithAI)$/] },
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
  { why: "needs a token of a provider: tests/oidc/browser.test.js reads one", members: [/^DeprecatedOAuthConnection\.getAccessToken$/] },
  { why: "need a browser: browser/redirects.test.js calls each", members: [/^StackClientApp\.redirectTo\w+$/] },
  {
    why: "need a browser and a provider: tests/oidc/browser.test.js calls them",
    members: [/^StackClientApp\.(signInWithOAuth|callOAuthCallback)$/, /^UserExtra\.(linkConnectedAccount|getOrLinkConnectedAccount)$/],
  },
];
