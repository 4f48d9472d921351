// node support/build.js FOLDER: builds the app once, for every file of the walk.

import { buildApp } from "./site.js";

await buildApp(process.argv[2]);
