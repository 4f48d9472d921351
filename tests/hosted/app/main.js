// An app that has no pages for users: the SDK sends them to the hosted ones.

import { StackClientApp } from "sdk";

const { template, ...config } = await (await fetch("/config.json")).json();
// What a bundler puts in place of the build's variables; the SDK reads them when it makes a URL.
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

// Waits for a sign-in that comes back with this page's URL.
const user = await app.getUser();
document.getElementById("who").textContent = user?.primaryEmail ?? "nobody";
document.body.dataset.ready = "yes";
