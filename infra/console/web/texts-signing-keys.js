// English texts of the signing keys.

export const signingKeys = {
  title: "RSA keys for access tokens",
  lead: "Needed only for RS256. Some services verify nothing else, such as the authorizers of HTTP APIs on AWS.",
  key: "Key",
  state: "State",
  signsFrom: "Signs from",
  retires: "Removed",
  signing: "Signing",
  next: "Next",
  previous: "Previous",
  unused: "Unused",
  none: { title: "No RSA key", text: "Create one, then choose RS256 above." },
  create: "Create RSA key",
  createText: "The key is published at once. Tokens are signed with it as soon as you choose RS256.",
  rotateText: "The new key is published now and signs in three hours. The previous one is removed three hours after that, so no service sees an unknown key.",
  revoke: "Replace at once",
  revokeText:
    "For a key that has leaked. All keys are replaced by a new one: tokens signed with them stop working within a minute, and apps get new ones.",
};
