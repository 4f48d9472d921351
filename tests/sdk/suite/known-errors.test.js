// The row of an error lists the SDKs that know its code. A header must never name a code that the
// SDK does not know, because the SDK would conclude that it is outdated.

import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { test } from "node:test";

import { version } from "../support/world.js";

const ROWS = new URL("../../../shared/errors/src/known/", import.meta.url);
/** A row's SDKs and variant. */
const ROW = /, Sdks::(\w+)\)\]\s+([A-Z]\w+)/g;
const KNOWN = { "2.8.77": ["All"], "2.8.108": ["All", "Since2_8_108"] };

test("this SDK knows exactly the codes whose rows say so", async () => {
  const { KnownErrors } = createRequire(new URL(`../${version}/sdk.js`, import.meta.url))("@stackframe/stack-shared");
  const codes = new Set(Object.values(KnownErrors).map(({ errorCode }) => errorCode));
  const files = (await readdir(ROWS)).filter((name) => name !== "mod.rs" && name.endsWith(".rs"));
  const texts = await Promise.all(files.map((name) => readFile(new URL(name, ROWS), "utf8")));
  const rows = texts.flatMap((text) => [...text.matchAll(ROW)]);
  assert.ok(rows.length > 100, `${rows.length} rows`);
  for (const [, sdks, variant] of rows) {
    const code = variant.replace(/(?<=.)([A-Z])/g, "_$1").toUpperCase();
    assert.equal(codes.has(code), KNOWN[version].includes(sdks), code);
  }
});
