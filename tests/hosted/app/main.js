// An app without pages for users: the SDK sends users to the hosted pages.

import { StackClientApp } from "sdk";

const { template, ...config } = await (await fetch("/config.json")).json();
// A bundler would set these variables at build time; the SDK reads them when it makes a URL.
globalThis.process = { env: { NODE_ENV: "production", NEXT_PUBLIC_STACK_HOSTED_HANDLER_URL_TEMPLATE: template } };
const app = new StackClientApp({
  ...config,
  tokenStore: "cookie",
  redirectMethod: "window",
  urls: { default: { type: "hosted" } },
  devTool: false,
  analytics: { enabled: false },
});
globalThis.app = app;

// If this page's URL contains the result of a sign-in, waits for the sign-in to complete.
const user = await app.getUser();
document.getElementById("who").textContent = user?.primaryEmail ?? "nobody";
document.body.dataset.ready = "yes";
