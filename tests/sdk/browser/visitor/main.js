// A page with the SDK's defaults, which include analytics and a developer tool.

import { StackClientApp } from "sdk";

const app = new StackClientApp({ ...(await (await fetch("/config.json")).json()), tokenStore: "cookie" });

document.getElementById("who").textContent = (await app.getUser())?.primaryEmail ?? "nobody";
document.body.dataset.ready = "yes";
