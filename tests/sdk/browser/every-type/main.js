// An app of any type of the SDK, also of those with keys that belong on a server.

import * as sdk from "sdk";

const config = await (await fetch("/config.json")).json();

window.appOf = (type, keys) => new sdk[type]({
  ...config,
  ...keys,
  tokenStore: "memory",
  // The page is not left, so that it keeps the session.
  redirectMethod: { navigate: () => {} },
  devTool: false,
  analytics: { enabled: false },
});
document.documentElement.dataset.ready = "yes";
