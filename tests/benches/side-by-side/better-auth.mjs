// Better Auth as its documentation sets it up: email and password, SQLite, Node's own HTTP server.
// Rate limits are off, as they are in the measured gateway. The arguments are database and port.
import { createServer } from "node:http";
import { betterAuth } from "better-auth";
import { getMigrations } from "better-auth/db/migration";
import { toNodeHandler } from "better-auth/node";
import Database from "better-sqlite3";

const [file, port] = process.argv.slice(2);
const auth = betterAuth({
  baseURL: `http://127.0.0.1:${port}`,
  secret: "a secret for measurements alone, never used elsewhere",
  database: new Database(file),
  emailAndPassword: { enabled: true },
  rateLimit: { enabled: false },
  telemetry: { enabled: false },
});
const { runMigrations } = await getMigrations(auth.options);
await runMigrations();
createServer(toNodeHandler(auth)).listen(Number(port), "127.0.0.1");
