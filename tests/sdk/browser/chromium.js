// The browser that these tests use.

import { chromium } from "playwright-core";

const FLAGS = [
  "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync",
];

/** Launches the browser with the common flags plus `flags`. */
export function launch(flags = []) {
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: [...FLAGS, ...flags] });
}

/**
 * The status of a response. The SDK asks for errors with status 200 to keep browsers from logging
 * them; a header has the real status.
 */
export function statusOf(response) {
  const headers = response.headers();
  return Number(headers["x-stack-actual-status"] ?? headers["x-hexclave-actual-status"] ?? response.status());
}
