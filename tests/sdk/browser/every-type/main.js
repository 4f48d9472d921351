// An app of any type that the SDK has, including types with keys that belong on a server.

import * as sdk from "sdk";

const config = await (await fetch("/config.json")).json();

window.appOf = (type, keys) => new sdk[type]({
  ...config,
  ...keys,
  tokenStore: "memory",
  // The page must stay open, so that the session is kept.
  redirectMethod: { navigate: () => {} },
  devTool: false,
  analytics: { enabled: false },
});
document.documentElement.dataset.ready = "yes";
