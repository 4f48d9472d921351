// Passkeys of users of the project `internal`, bound to the host of the console.

/** Whether passkeys work in this browser at this address; they never work at an IP address. */
export function isSupported() {
  const isAddress = /^[\d.]+$|^\[/.test(location.hostname);
  return globalThis.isSecureContext && !isAddress && Boolean(globalThis.PublicKeyCredential?.parseRequestOptionsFromJSON);
}

/**
 * Uses a passkey, and returns `code` and `authentication_response` for the API. If the code of a
 * sign-in attempt is given, the passkey is the attempt's second factor.
 */
export async function prove(api, attempt) {
  const start = "/auth/passkey/initiate-passkey-authentication";
  const { options_json: options, code } = await api.post(start, attempt ? { attempt_code: attempt } : {});
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON({ ...options, rpId: location.hostname });
  const credential = await navigator.credentials.get({ publicKey });
  return { code, authentication_response: credential.toJSON() };
}

/** Creates a passkey for the signed-in user. */
export async function create(api) {
  const { options_json: options, code } = await api.post("/auth/passkey/initiate-passkey-registration");
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON({ ...options, rp: { ...options.rp, id: location.hostname } });
  const credential = await navigator.credentials.create({ publicKey });
  return api.post("/auth/passkey/register", { code, credential: credential.toJSON() });
}
