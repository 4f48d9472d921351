// A local mail server that accepts every email. The server has a certificate for its address.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { TLSSocket } from "node:tls";

/** A new certificate for 127.0.0.1 and localhost, with its key; its file is deleted at the end of the process. */
export function newCertificate() {
  const pem = execFileSync("openssl", [
    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "-", "-subj", "/CN=mail server", "-days", "1",
    "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost", "-addext", "basicConstraints=critical,CA:FALSE",
  ], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  const folder = mkdtempSync(join(tmpdir(), "mail-server-"));
  process.once("exit", () => rmSync(folder, { recursive: true }));
  const file = join(folder, "certificate.pem");
  writeFileSync(file, pem.slice(pem.indexOf("-----BEGIN CERTIFICATE-----")));
  return { pem, file };
}

/**
 * Starts the server, which requires STARTTLS. `received` has its emails' texts, and `logins` every
 * name and password sent to it.
 */
export async function startMailServer(t, { pem }) {
  const [received, logins] = [[], []];
  const server = createServer((socket) => {
    socket.write("220 mail server\r\n");
    const lines = createInterface({ input: socket });
    lines.on("error", () => {});
    lines.on("line", (line) => {
      if (!/^STARTTLS/i.test(line)) return void socket.write("250-mail server\r\n250 STARTTLS\r\n");
      lines.close();
      lines.removeAllListeners("line");
      socket.write("220 go ahead\r\n");
      talk(new TLSSocket(socket, { isServer: true, key: pem, cert: pem }), { received, logins });
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  return { port: server.address().port, received, logins };
}

/** Speaks SMTP with a client, over TLS already started. */
function talk(socket, { received, logins }) {
  let body;
  const lines = createInterface({ input: socket });
  // A client that rejects the certificate ends the connection with an error.
  lines.on("error", () => {});
  lines.on("line", (line) => {
    if (body && line !== ".") return void body.push(line);
    if (body) received.push(body.join("\n"));
    body = /^DATA/i.test(line) ? [] : undefined;
    const [, login] = line.match(/^AUTH PLAIN (\S+)/i) ?? [];
    if (login) logins.push(Buffer.from(login, "base64").toString().split("\0").slice(1));
    socket.write(answerTo(line));
    if (/^QUIT/i.test(line)) socket.end();
  });
}

function answerTo(line) {
  switch (line.slice(0, 4).toUpperCase()) {
    case "EHLO": return "250-mail server\r\n250 AUTH PLAIN\r\n";
    case "AUTH": return "235 welcome\r\n";
    case "DATA": return "354 go ahead\r\n";
    case "QUIT": return "221 goodbye\r\n";
    default: return "250 fine\r\n";
  }
}
