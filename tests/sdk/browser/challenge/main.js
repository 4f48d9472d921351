// An app whose project requires proof of work. One form signs up with the SDK, which shows the
// widget; the other is a custom form that contains the widget.

import "./turnstile.js";

const { challengeUrl, ...config } = await (await fetch("/config.json")).json();
// A bundler would define these variables at build time.
globalThis.process ??= { env: { NEXT_PUBLIC_STACK_BOT_CHALLENGE_SITE_KEY: challengeUrl } };
const { StackClientApp } = await import("sdk");
const app = new StackClientApp({
  ...config,
  tokenStore: "memory",
  redirectMethod: "none",
  devTool: false,
  analytics: { enabled: false },
});

const element = (id) => document.getElementById(id);
element("widget").setAttribute("challenge", challengeUrl);

function onSubmit(id, call) {
  element(id).onsubmit = async (event) => {
    event.preventDefault();
    try {
      const result = await call(Object.fromEntries(new FormData(event.target)));
      element("outcome").textContent = result.status === "error" ? result.error.errorCode : result.status;
    } catch (error) {
      element("outcome").textContent = `${error}`;
    }
  };
}

onSubmit("sign-up", ({ email, password }) => app.signUpWithCredential({ email, password, noVerificationCallback: true, noRedirect: true }));
onSubmit("own", async ({ email, password, altcha }) => {
  const answer = await fetch(`${config.baseUrl}/api/v1/auth/password/sign-up`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-service-access-type": "client",
      "x-service-project-id": config.projectId,
      "x-service-publishable-client-key": config.publishableClientKey,
    },
    body: JSON.stringify({ email, password, bot_challenge_token: altcha, bot_challenge_phase: "visible" }),
  });
  return answer.ok ? { status: "ok" } : { status: "error", error: { errorCode: (await answer.json()).code } };
});
document.body.dataset.ready = "yes";
