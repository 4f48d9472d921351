// node support/build.js FOLDER: builds the app once for all files of the walk.

import { buildApp } from "./site.js";

await buildApp(process.argv[2]);
