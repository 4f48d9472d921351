// An app whose sign-in page is on another domain, where the same app runs.

import { StackClientApp } from "sdk";

const { signIn, ...config } = await (await fetch("/config.json")).json();
const app = new StackClientApp({
  ...config,
  tokenStore: "cookie",
  redirectMethod: "window",
  urls: { signIn, afterSignIn: "/", afterSignUp: "/", afterSignOut: "/" },
  devTool: false,
  analytics: { enabled: false },
});

const element = (id) => document.getElementById(id);

element("sign-in").onsubmit = async (event) => {
  event.preventDefault();
  const { email, password } = Object.fromEntries(new FormData(event.target));
  const result = await app.signInWithCredential({ email, password });
  if (result.status === "error") element("who").textContent = result.error.errorCode;
};
element("elsewhere").onclick = () => app.redirectToSignIn();
element("sign-out").onclick = () => app.signOut();

// From another domain, the SDK returns to its default path, whatever the value of
// `urls.oauthCallback` is.
if (location.pathname === "/handler/oauth-callback") await app.callOAuthCallback();
const user = await app.getUser();
element("who").textContent = user?.primaryEmail ?? "nobody";
document.body.dataset.ready = "yes";
