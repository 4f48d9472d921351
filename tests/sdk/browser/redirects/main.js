// An app with a path for each page of the SDK, named after the page.

import { StackClientApp } from "sdk";

const { pages, ...config } = await (await fetch("/config.json")).json();
const app = new StackClientApp({
  ...config,
  tokenStore: "cookie",
  redirectMethod: "window",
  urls: Object.fromEntries(pages.map((page) => [page, `/at/${page}`])),
  devTool: false,
  analytics: { enabled: false },
});
globalThis.app = app;

document.getElementById("who").textContent = (await app.getUser())?.primaryEmail ?? "nobody";
document.body.dataset.ready = "yes";
