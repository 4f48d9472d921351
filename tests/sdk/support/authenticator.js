// An authenticator app.

import { createHmac } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * The code that an authenticator app shows (RFC 6238: SHA-1, 30 seconds, six digits). Waits for the
 * next code if the current one expires within ten seconds.
 */
export async function shownBy(secret) {
  const left = 30_000 - (Date.now() % 30_000);
  if (left < 10_000) await sleep(left + 100);
  const step = Buffer.alloc(8);
  step.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000)));
  const mac = createHmac("sha1", secret).update(step).digest();
  const offset = mac.at(-1) & 15;
  return String((mac.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, "0");
}
