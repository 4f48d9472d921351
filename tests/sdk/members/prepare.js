// node members/prepare.js FOLDER VERSION: writes the schema that tests use to record their calls.

import { writeFileSync } from "node:fs";
import { schemaOf } from "./schema.js";

const [folder, version] = process.argv.slice(2);
writeFileSync(`${folder}/${version}.json`, JSON.stringify(schemaOf(version)));
