// Tests wait for events, never for a period.

import { setTimeout as sleep } from "node:timers/promises";

/**
 * How long a test waits for what is usually there immediately. A busy machine may take many times
 * as long, and a deployment looks for due emails only once a minute.
 */
export const PATIENCE_MILLIS = process.env.DEPLOYMENT ? 180_000 : 60_000;

/**
 * Calls `look` every `pause` milliseconds until it returns something, and returns that; fails with
 * `what` after `patience` milliseconds.
 */
export async function until(look, what, { patience = PATIENCE_MILLIS, pause = 25 } = {}) {
  for (const end = Date.now() + patience; Date.now() < end; await sleep(pause)) {
    const found = await look();
    if (found) return found;
  }
  throw new Error(`${what}: not within ${patience} ms`);
}
