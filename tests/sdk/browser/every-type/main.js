// An app of any of the SDK's types, including those with keys that belong on a server.

import * as sdk from "sdk";

const config = await (await fetch("/config.json")).json();

window.appOf = (type, keys) => new sdk[type]({
  ...config,
  ...keys,
  tokenStore: "memory",
  // The page stays open to keep the session.
  redirectMethod: { navigate: () => {} },
  devTool: false,
  analytics: { enabled: false },
});
document.documentElement.dataset.ready = "yes";
