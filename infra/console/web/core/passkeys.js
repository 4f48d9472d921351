// Passkeys of users of the project `internal`, who use the console under the name of this page.

/** Whether this browser uses passkeys here; no passkey belongs to a bare IP address. */
export function isSupported() {
  const isAddress = /^[\d.]+$|^\[/.test(location.hostname);
  return globalThis.isSecureContext && !isAddress && Boolean(globalThis.PublicKeyCredential?.parseRequestOptionsFromJSON);
}

/**
 * Proves a passkey to the API, which gets `code` and `authentication_response`. With the code of an
 * attempt, the proof is the second factor of that sign-in.
 */
export async function prove(api, attempt) {
  const start = "/auth/passkey/initiate-passkey-authentication";
  const { options_json: options, code } = await api.post(start, attempt ? { attempt_code: attempt } : {});
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON({ ...options, rpId: location.hostname });
  const credential = await navigator.credentials.get({ publicKey });
  return { code, authentication_response: credential.toJSON() };
}

/** Creates a passkey of the user who is signed in. */
export async function create(api) {
  const { options_json: options, code } = await api.post("/auth/passkey/initiate-passkey-registration");
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON({ ...options, rp: { ...options.rp, id: location.hostname } });
  const credential = await navigator.credentials.create({ publicKey });
  return api.post("/auth/passkey/register", { code, credential: credential.toJSON() });
}
