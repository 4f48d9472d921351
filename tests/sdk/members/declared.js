// Members of the SDK that no test of the suite calls, and why. Each pattern must match at least one
// member that is not called.

export const DECLARED = [
  {
    why: "payments are not a part of the service",
    members: [
      /^Customer\./,
      /^ServerItem\./,
      /\.(getBilling|getItem|listProducts|listInvoices|grantProduct|cancelSubscription)$/,
      /^StackAdminApp\.(getStripeAccountInfo|listTransactions|refundTransaction|createItemQuantityChange)$/,
      /^StackAdminApp\.(setupPayments|createStripeWidgetAccountSession|getPaymentMethodConfigs|updatePaymentMethodConfigs)$/,
    ],
  },
  { why: "analytics and session replays are not a part of the service", members: [/^StackAdminApp\.(queryAnalytics|listSessionReplay\w*|getSessionReplay\w*)$/] },
  { why: "there is no data vault", members: [/^DataVaultStore\./, /\.getDataVaultStore$/] },
  { why: "domains for emails are set up in AWS", members: [/^StackAdminApp\.\w*ManagedEmail\w*$/] },
  { why: "no assistant writes templates", members: [/^StackAdminApp\.(saveChatMessage|listChatMessages|rewriteTemplateSourceWithAI)$/] },
  { why: "need a browser: browser/passkeys.test.js calls them", members: [/\.(signInWithPasskey|registerPasskey)$/] },
  {
    why: "the type of a server app at the project internal, which has no server key",
    members: [/^ServerUser\.listOwnedProjects$/],
  },
  { why: "needs the tokens of a provider: tests/sdk/react has them", members: [/^DeprecatedOAuthConnection\.getAccessToken$/] },
  {
    why: "needs a browser: tests/oidc and tests/sdk/react go there",
    members: [/^StackClientApp\.(redirectTo\w+|signInWithOAuth|callOAuthCallback)$/, /^UserExtra\.(linkConnectedAccount|getOrLinkConnectedAccount)$/],
  },
];
