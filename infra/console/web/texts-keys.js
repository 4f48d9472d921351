// English texts of API keys: the project's own, and those of users and teams.

export const keys = {
  title: "API keys",
  lead: "Apps and servers use these keys to call the API.",
  project: "Project id",
  keys: "Keys",
  kinds: { client: "Client key", server: "Server key", admin: "Admin key" },
  clientHelp: "Can be used in a web page or an app.",
  serverHelp: "Can read and change every user: keep it on your server.",
  adminHelp: "Can change the project itself.",
  file: "The keys are also in a file. To load the file into a shell:",
  memory: "This gateway keeps everything in memory: users, emails and keys are lost when it stops.",
  valid: "Valid",
  revoked: "Revoked",
  expired: "Expired",
  revoke: "Revoke",
  revokeText: "These keys stop working immediately. This cannot be undone.",
  revokeOwnText: (isSaved) =>
    "These keys stop working immediately, including on this page. This cannot be undone. " +
    (isSaved
      ? "This browser can no longer open the project until the gateway restarts and creates new keys."
      : "This browser can no longer open the project."),
  create: "Create keys",
  created: "New keys",
  createdText: "Copy these keys now: they are never shown again.",
  descriptionHelp: "Where the keys are used, so that you know what stops working when you revoke them.",
  permissions: "Permissions of the server key",
  permissionsHelp: "If you select none, the key can do everything. You can select permissions only if the set has no other keys.",
  days: "Expires after (days)",
  daysHelp: "Empty: never.",
  none: { title: "No keys yet", text: "Create a client key for your app, and a server key for your backend." },
};

export const ownedKeys = {
  title: "API keys",
  key: "Key",
  public: "public",
  create: "Create key",
  created: "New key",
  scopes: "Scopes",
  scopesHelp: "Names that your app defines, one per line.",
  revokeText: "Your app no longer accepts this key. This cannot be undone.",
  off: { title: "API keys are off", text: "The project’s settings do not allow these keys. Existing keys are kept but not accepted." },
  allow: "Go to the API key settings",
  none: { title: "No keys yet", text: "With a key, a program can use your app on behalf of the key’s owner. Create the first key below." },
};
