// A small app as a developer would write it: buttons to sign in with a provider and to connect an
// account of the provider, and the page that the user returns to.

import * as sdk from "sdk";

const config = await (await fetch("/config.json")).json();
// Tests may choose another type of app, together with the keys for that type.
const { type, ...keys } = JSON.parse(localStorage.getItem("app") ?? '{ "type": "StackClientApp" }');
const app = new sdk[type]({
  ...config,
  ...keys,
  tokenStore: "cookie",
  redirectMethod: "window",
  urls: { afterSignIn: "/back", afterSignUp: "/welcome", afterSignOut: "/", oauthCallback: "/oauth-callback", error: "/error" },
  // Features that contact other hosts or add elements to the page are disabled.
  devTool: false,
  analytics: { enabled: false },
});

// Used for actions without a button on the page.
globalThis.app = app;

const element = (id) => document.getElementById(id);

async function show() {
  const user = await app.getUser();
  element("who").textContent = user ? `${user.displayName} ${user.primaryEmail} ${user.primaryEmailVerified ? "verified" : "unverified"}` : "nobody";
  document.body.dataset.ready = "yes";
}

element("sign-in").onclick = () => app.signInWithOAuth("acme");
element("sign-out").onclick = () => app.signOut();
element("connect").onclick = async () => {
  const user = await app.getUser({ or: "throw" });
  const connection = await user.getOrLinkConnectedAccount("acme");
  const { status, data } = await connection.getAccessToken();
  element("connection").textContent = `${connection.provider} ${connection.providerAccountId} ${status} ${data?.accessToken.length > 0}`;
};
element("require").onclick = async () => {
  const user = await app.getUser({ or: "throw" });
  await user.getConnectedAccount("acme", { or: "redirect" });
};
element("connect-again").onclick = async () => {
  const user = await app.getUser({ or: "throw" });
  await user.linkConnectedAccount("acme");
};

try {
  const isLeaving = location.pathname === "/oauth-callback" && (await app.callOAuthCallback());
  if (!isLeaving) await show();
} catch (error) {
  element("problem").textContent = error.errorCode ?? `${error}`;
  await show();
}
