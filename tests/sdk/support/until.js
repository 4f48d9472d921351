// Tests wait for events, never for a fixed time.

import { setTimeout as sleep } from "node:timers/promises";

/**
 * How long a test waits for results that usually arrive immediately. A busy machine may take many
 * times as long, and a deployment looks for due emails only once a minute.
 */
export const TIMEOUT_MILLIS = process.env.DEPLOYMENT ? 180_000 : 60_000;

/**
 * Calls `look` every `pause` milliseconds until it returns something, and returns that; fails with
 * `what` after `timeout` milliseconds.
 */
export async function until(look, what, { timeout = TIMEOUT_MILLIS, pause = 25 } = {}) {
  for (const end = Date.now() + timeout; Date.now() < end; await sleep(pause)) {
    const found = await look();
    if (found) return found;
  }
  throw new Error(`${what}: not within ${timeout} ms`);
}
