// Adds passkeys, bot challenges and small conveniences to pages that also work without the script.

const form = (data) => new URLSearchParams(data);
const token = () => document.querySelector("[name=form_token]")?.value ?? "";
const bytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

// Errors get the focus, so that a screen reader reads them first.
document.querySelector("[role=alert], [aria-invalid=true]")?.focus();

// A form is sent only once. The button works again if the page is restored from the browser's
// cache.
document.addEventListener("submit", ({ target, submitter }) => {
  if (submitter?.name) target.append(Object.assign(document.createElement("input"), { type: "hidden", name: submitter.name, value: submitter.value }));
  // Downloading a file does not replace the page.
  if (submitter?.value === "data.download") return setTimeout(() => target.lastChild.remove());
  for (const element of target.elements) if (element.tagName === "BUTTON") element.disabled = true;
});
addEventListener("pageshow", (event) => event.persisted && location.reload());

// Sends the response to a client that requested it as a form.
document.querySelector("form[data-sends]")?.submit();

for (const button of document.querySelectorAll("[data-shows]")) {
  const [field, show] = [document.getElementById(button.dataset.shows), button.textContent];
  button.hidden = false;
  button.onclick = () => {
    const isShown = field.type === "password";
    field.type = isShown ? "text" : "password";
    button.textContent = isShown ? button.dataset.hide : show;
    button.setAttribute("aria-pressed", isShown);
  };
}

/* Passkeys */

async function asked(body) {
  const answer = await fetch(location.href, { method: "POST", body: form({ form_token: token(), action: "passkey-begin", ...body }) });
  if (!answer.ok) throw new Error((await answer.json().catch(() => ({}))).code ?? `status ${answer.status}`);
  return answer.json();
}

/** Sends the answer of an authenticator with a form of the page. */
function send(page, fields) {
  const element = Object.assign(document.createElement("form"), { method: "post", action: page });
  for (const [name, value] of Object.entries({ form_token: token(), action: "passkey", ...fields })) {
    element.append(Object.assign(document.createElement("input"), { type: "hidden", name, value }));
  }
  document.body.append(element);
  element.submit();
}

function request({ options_json: options }, mediation, signal) {
  const allowed = options.allowCredentials?.map((one) => ({ ...one, id: bytes(one.id) }));
  const rpId = options.rpId && location.hostname.endsWith(options.rpId) ? options.rpId : location.hostname;
  return navigator.credentials.get({ publicKey: { ...options, rpId, challenge: bytes(options.challenge), allowCredentials: allowed }, mediation, signal });
}

function answered({ id, rawId, type, response, authenticatorAttachment }) {
  const parts = { clientDataJSON: response.clientDataJSON, authenticatorData: response.authenticatorData, signature: response.signature };
  const texts = Object.fromEntries(Object.entries(parts).map(([name, value]) => [name, text(value)]));
  if (response.userHandle) texts.userHandle = text(response.userHandle);
  return JSON.stringify({ id, rawId: text(rawId), type, response: texts, authenticatorAttachment, clientExtensionResults: {} });
}

/** Says below a button of passkeys that it did not work. */
function fail(place, button) {
  place.querySelector(".alert")?.remove();
  place.append(Object.assign(document.createElement("p"), { className: "alert", role: "alert", textContent: place.dataset.failed }));
  button.disabled = false;
}

const place = document.querySelector("[data-passkey]");
if (place && globalThis.PublicKeyCredential && navigator.credentials) {
  const page = place.parentElement.querySelector("form")?.getAttribute("action") ?? location.href;
  const extra = place.dataset.attempt ? { attempt: place.dataset.attempt } : {};
  const factors = document.querySelector("[name=factors]")?.value;
  let autofill = new AbortController();
  const use = async (mediation, signal) => {
    const begun = await asked({ ...extra, ...(mediation && { mediation }) });
    const credential = await request(begun, mediation, signal);
    send(page, { ...extra, ...(factors && { factors }), passkey_code: begun.code, passkey: answered(credential) });
  };
  place.hidden = false;
  place.querySelector("button").onclick = async (event) => {
    autofill.abort();
    event.target.disabled = true;
    try {
      await use();
    } catch {
      fail(place, event.target);
    }
  };
  const isOffered = place.dataset.passkey === "sign-in" && document.querySelector("[autocomplete~=webauthn]");
  if (isOffered && (await PublicKeyCredential.isConditionalMediationAvailable?.())) use("conditional", autofill.signal).catch(() => {});
}

const create = ({ options_json: options }) => {
  const { rp, user, excludeCredentials: excluded = [] } = options;
  const id = location.hostname.endsWith(rp.id) ? rp.id : location.hostname;
  const publicKey = { ...options, rp: { ...rp, id }, user: { ...user, id: bytes(user.id) }, challenge: bytes(options.challenge) };
  publicKey.excludeCredentials = excluded.map((one) => ({ ...one, id: bytes(one.id) }));
  return navigator.credentials.create({ publicKey });
};

function registered({ id, rawId, type, response, authenticatorAttachment }) {
  const parts = { clientDataJSON: text(response.clientDataJSON), attestationObject: text(response.attestationObject) };
  const transports = response.getTransports?.() ?? [];
  return JSON.stringify({ id, rawId: text(rawId), type, response: { ...parts, transports }, authenticatorAttachment, clientExtensionResults: {} });
}

const registration = document.querySelector("[data-register]");
if (registration && globalThis.PublicKeyCredential && navigator.credentials) {
  registration.hidden = false;
  registration.querySelector("button").onclick = async ({ target }) => {
    target.disabled = true;
    try {
      const begun = await asked({ action: "passkeys.begin" });
      send("#passkeys", { action: "passkeys.add", passkey_code: begun.code, passkey: registered(await create(begun)) });
    } catch ({ message }) {
      if (message === "REAUTHENTICATION_REQUIRED") return send("#passkeys", { action: "confirm.ask:passkeys" });
      fail(registration, target);
    }
  };
}

/* Bot challenges */

const hex = (digits) => Uint8Array.from(digits.match(/../g) ?? [], (digit) => Number.parseInt(digit, 16));

/** Proof of work: the counter for which PBKDF2 of nonce and counter begins with the prefix. */
async function worked(url) {
  const challenge = await (await fetch(url)).json();
  const { cost, salt, nonce, keyPrefix, keyLength } = challenge.parameters;
  const algorithm = { name: "PBKDF2", hash: "SHA-256", salt: hex(salt), iterations: cost };
  const [start, length] = [hex(nonce), (keyLength ?? 32) * 8];
  const derived = async (counter) => {
    const secret = new Uint8Array(start.length + 4);
    secret.set(start);
    new DataView(secret.buffer).setUint32(start.length, counter);
    const key = await crypto.subtle.importKey("raw", secret, "PBKDF2", false, ["deriveBits"]);
    return [...new Uint8Array(await crypto.subtle.deriveBits(algorithm, key, length))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  };
  for (let first = 0; ; first += 64) {
    const keys = await Promise.all(Array.from({ length: 64 }, (_, index) => derived(first + index)));
    const found = keys.findIndex((key) => key.startsWith(keyPrefix));
    if (found >= 0) return btoa(JSON.stringify({ challenge, solution: { counter: first + found, derivedKey: keys[found], time: 0 } }));
  }
}

function turnstile(element, key) {
  return new Promise((resolve, reject) => {
    const script = Object.assign(document.createElement("script"), { src: "https://challenges.cloudflare.com/turnstile/v0/api.js?render=explicit" });
    script.onerror = reject;
    script.onload = () => globalThis.turnstile.render(element, { sitekey: key, callback: resolve, "error-callback": reject });
    document.head.append(script);
  });
}

for (const element of document.querySelectorAll(".challenge")) {
  const { provider, key, url, working, done, failed } = element.dataset;
  const [said, field] = [element.querySelector("p"), element.querySelector("input")];
  const buttons = [...element.closest("form").querySelectorAll("button")];
  said.textContent = working;
  for (const button of buttons) button.disabled = true;
  (provider === "altcha" ? worked(url) : turnstile(element, key)).then(
    (solution) => {
      field.value = solution;
      said.textContent = done;
      element.classList.add("done");
      for (const button of buttons) button.disabled = false;
    },
    () => (said.textContent = failed),
  );
}
