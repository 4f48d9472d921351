// An authenticator app.

import { createHmac } from "node:crypto";

/** The current code of an authenticator app (RFC 6238: SHA-1, 30 seconds, six digits). */
export function shownBy(secret) {
  const step = Buffer.alloc(8);
  step.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000)));
  const mac = createHmac("sha1", secret).update(step).digest();
  const offset = mac.at(-1) & 15;
  return String((mac.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, "0");
}
