// A page with the defaults of the SDK: its analytics, and its tool for developers, are on.

import { StackClientApp } from "sdk";

const app = new StackClientApp({ ...(await (await fetch("/config.json")).json()), tokenStore: "cookie" });

document.getElementById("who").textContent = (await app.getUser())?.primaryEmail ?? "nobody";
document.body.dataset.ready = "yes";
