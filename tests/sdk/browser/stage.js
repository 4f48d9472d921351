// A site with the app and a browser, for the tests in a file.

import { after, before } from "node:test";
import { version } from "../support/world.js";
import { launch } from "./chromium.js";
import { startSite } from "./site.js";

/**
 * Starts site and browser before the tests, and stops them afterwards. `prepare(gateway)` first
 * changes the project and may return more settings for the app, which is in `folder`.
 */
export function stage(w, { folder, prepare = () => ({}) } = {}) {
  const it = {};
  before(async () => {
    await w.started;
    const more = await prepare(w.gateway);
    const { url: baseUrl, projectId, publishableClientKey } = w.gateway;
    it.site = await startSite(version, { baseUrl, projectId, publishableClientKey, ...more }, folder);
    it.browser = await launch();
  });
  after(async () => {
    await it.browser?.close();
    await it.site?.stop();
  });
  return it;
}
