// A back office where users register passkeys at a desk. The page contains the server key, so it is
// only for staff.

import { StackServerApp } from "sdk";

const config = await (await fetch("/config.json")).json();
const app = new StackServerApp({ ...config, tokenStore: "memory", redirectMethod: "window", devTool: false, analytics: { enabled: false } });

window.registerPasskey = async (id, options) => {
  const user = await app.getUser(id);
  const { status, error } = await user.registerPasskey(options);
  return { status, code: error?.errorCode, hasPasskey: (await app.getUser(id)).passkeyAuthEnabled };
};
document.documentElement.dataset.ready = "yes";
