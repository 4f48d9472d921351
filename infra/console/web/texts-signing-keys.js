// English texts of the signing keys.

export const signingKeys = {
  title: "RSA keys for access tokens",
  lead: "Needed only for RS256. Some services, such as the authorizers of HTTP APIs on AWS, can verify only RSA signatures.",
  key: "Key",
  state: "State",
  signsFrom: "Signs from",
  retires: "Removed",
  signing: "Signing",
  next: "Next",
  previous: "Previous",
  unused: "Unused",
  none: { title: "No RSA key", text: "Create a key, then choose RS256 above." },
  create: "Create RSA key",
  createText: "The key is published immediately. Tokens are signed with this key as soon as you choose RS256.",
  rotateText: "The new key is published now, and starts to sign tokens in three hours. The previous key is removed three hours later, so that no service sees an unknown key.",
  revoke: "Replace at once",
  revokeText:
    "Use this if a key has leaked. A new key replaces all keys. Tokens signed with the old keys stop working within a minute, and apps get new tokens.",
};
