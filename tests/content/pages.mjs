// Every page of a site in a browser: axe-core finds no problems, nothing is wider than a phone, and
// no page runs scripts, violates its content security policy or contacts another host. Images have
// their stated sizes, and every page outside `/docs` has an image for link previews.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const [site] = process.argv.slice(2);
const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const map = await (await fetch(`${site}/sitemap.xml`)).text();
const listed = [...map.matchAll(/<loc>([^<]+)<\/loc>/g)].map(([, url]) => url);
const { data } = await (await fetch(`${site}/api/v1/site`)).json();
const urls = [...listed, data.url, data.resources.docsApiReference];
assert.ok(urls.length > 5);

/** Asserts that link previews show a picture for a page. */
async function hasPicture(page) {
  const property = (name) => page.locator(`meta[property="og:image${name}"]`).getAttribute("content");
  const [url, width, height, alt] = await Promise.all(["", ":width", ":height", ":alt"].map(property));
  const shown = await page.evaluate(async (src) => {
    const image = Object.assign(new Image(), { src });
    await image.decode();
    return [image.naturalWidth, image.naturalHeight];
  }, url);
  assert.deepEqual([shown.map(String), shown], [[width, height], [1200, 630]], url);
  assert.ok(alt && url.startsWith(`${site}/images/`), url);
}

let images = 0;
const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
for (const colorScheme of ["light", "dark"]) {
  const context = await browser.newContext({ colorScheme, viewport: { width: 360, height: 740 } });
  // Browsers get a gateway's own start page; this one gets the site's.
  await context.route(`${site}/`, async (route) => {
    const answer = await fetch(site);
    const headers = Object.fromEntries(["content-type", "content-security-policy"].map((name) => [name, answer.headers.get(name)]));
    await route.fulfill({ headers, body: await answer.text() });
  });
  for (const url of urls) {
    const page = await context.newPage();
    const complaints = [];
    page.on("pageerror", (error) => complaints.push(`${error}`));
    page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
    page.on("request", (request) => new URL(request.url()).origin === site || complaints.push(`asked ${request.url()}`));
    page.on("response", (response) => response.status() < 400 || complaints.push(`${response.status()} ${response.url()}`));
    await page.goto(url);
    // The evaluated code is the test's, so the page's content security policy does not apply.
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
    complaints.push(...violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join("\n")}`));
    // At `/docs`, a gateway shows its own documentation.
    if (!new URL(url).pathname.startsWith("/docs")) await hasPicture(page);
    for (const image of await page.locator("main img").all()) {
      await image.scrollIntoViewIfNeeded();
      await image.evaluate((element) => element.decode());
      const [stated, real] = await image.evaluate((one) => [[one.width, one.height], [one.naturalWidth, one.naturalHeight]]);
      assert.deepEqual(stated, real, url);
      images += 1;
    }
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    if (width > 360) complaints.push(`${width} px wide`);
    assert.deepEqual(complaints, [], `${url}, ${colorScheme}`);
    await page.close();
  }
  await context.close();
}
await browser.close();
assert.equal(images, 2, "one image in each colour scheme");
console.log(`${urls.length} pages: no findings`);
