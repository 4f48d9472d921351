// A small app as its developer would write it: the SDK with its cookies, and pages behind emailed
// links.

import { StackClientApp } from "sdk";

const config = await (await fetch("/config.json")).json();
const app = new StackClientApp({
  ...config,
  tokenStore: "cookie",
  redirectMethod: "window",
  urls: { afterSignIn: "/", afterSignUp: "/", afterSignOut: "/", emailVerification: "/verify", magicLinkCallback: "/sign-in-by-link" },
  // Features that contact other hosts or add elements to the page are disabled.
  devTool: false,
  analytics: { enabled: false },
});

const element = (id) => document.getElementById(id);

/** Shows the SDK's error for a failed call. */
function shown(result) {
  if (result?.status === "error") element("problem").textContent = result.error.errorCode;
  return result;
}

async function show() {
  const user = await app.getUser();
  element("who").textContent = user ? `${user.primaryEmail} ${user.primaryEmailVerified ? "verified" : "unverified"}` : "nobody";
  element("sessions").replaceChildren(...(user ? (await user.getActiveSessions()).map((session) => row(user, session)) : []));
  document.body.dataset.ready = "yes";
}

function row(user, session) {
  const item = document.createElement("li");
  item.textContent = session.isCurrentSession ? "this browser" : "another browser";
  const revoke = document.createElement("button");
  revoke.textContent = "Revoke";
  revoke.onclick = async () => {
    await user.revokeSession(session.id);
    await show();
  };
  item.append(revoke);
  return item;
}

function onSubmit(id, call) {
  element(id).onsubmit = async (event) => {
    event.preventDefault();
    const fields = Object.fromEntries(new FormData(event.target));
    try {
      await call(fields, event.target);
    } catch (error) {
      element("problem").textContent = error.errorCode ?? `${error}`;
    }
  };
}

onSubmit("sign-up", async ({ email, password }) => shown(await app.signUpWithCredential({ email, password })));
onSubmit("sign-in", async ({ email, password }) => shown(await app.signInWithCredential({ email, password })));
onSubmit("send-link", async ({ email }, form) => {
  if (shown(await app.sendMagicLinkEmail(email)).status === "ok") form.querySelector("output").textContent = "sent";
});
element("register-passkey").onclick = async ({ target }) => {
  const user = await app.getUser({ or: "throw" });
  if (shown(await user.registerPasskey()).status === "ok") target.dataset.done = "yes";
};
element("remove-passkeys").onclick = async ({ target }) => {
  const user = await app.getUser({ or: "throw" });
  await user.update({ passkeyAuthEnabled: false });
  target.dataset.done = "yes";
};
element("passkey-sign-in").onclick = async () => shown(await app.signInWithPasskey());
element("sign-out").onclick = () => app.signOut();

const code = new URLSearchParams(location.search).get("code");
if (location.pathname === "/verify") shown(await app.verifyEmail(code));
if (location.pathname === "/sign-in-by-link") shown(await app.signInWithMagicLink(code));
await show();
