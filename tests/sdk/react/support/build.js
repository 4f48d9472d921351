// node support/build.js FOLDER: builds the app once for all test files.

import { buildApp } from "./site.js";

await buildApp(process.argv[2]);
