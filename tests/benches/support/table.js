// Writes many users directly to the table of a gateway, because a hundred thousand requests would
// take much longer. The users are copies of users that the API has created, with new ids, names and
// addresses.

import { createHash, createHmac, randomUUID } from "node:crypto";

const REGION = "us-east-1";
const BATCH = 25;
const SHARDS = 4;
/** Parts of the original users' names and addresses, replaced in each copy. */
const MARKS = { first: "qqfirst", last: "qqlast", address: "qqaddress" };

export const CREDENTIALS = { GATELET_DYNAMODB_ACCESS_KEY_ID: "bench", GATELET_DYNAMODB_SECRET_ACCESS_KEY: "bench-secret-key" };

const digest = (text) => createHash("sha256").update(text).digest("hex");
const mac = (key, text) => createHmac("sha256", key).update(text).digest();

/** Calls DynamoDB's API, signed with Signature Version 4. */
async function ask(url, operation, input) {
  const body = JSON.stringify(input);
  const time = new Date().toISOString().replace(/[-:]|\.\d+/g, "");
  const scope = [time.slice(0, 8), REGION, "dynamodb", "aws4_request"];
  const headers = { "content-type": "application/x-amz-json-1.0", host: new URL(url).host, "x-amz-date": time, "x-amz-target": `DynamoDB_20120810.${operation}` };
  const signed = Object.keys(headers).join(";");
  const lines = Object.entries(headers).map(([name, value]) => `${name}:${value}\n`);
  const request = ["POST", "/", "", lines.join(""), signed, digest(body)].join("\n");
  const text = ["AWS4-HMAC-SHA256", time, scope.join("/"), digest(request)].join("\n");
  const key = scope.reduce(mac, `AWS4${CREDENTIALS.GATELET_DYNAMODB_SECRET_ACCESS_KEY}`);
  const credential = `${CREDENTIALS.GATELET_DYNAMODB_ACCESS_KEY_ID}/${scope.join("/")}`;
  headers.authorization = `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=${signed}, Signature=${mac(key, text).toString("hex")}`;
  const answer = await fetch(url, { method: "POST", headers, body });
  if (!answer.ok) throw new Error(`${operation}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

/** A user's items as text, without entries of the audit log. */
async function itemsOf(url, table, id) {
  const found = [];
  let from;
  do {
    const page = await ask(url, "Scan", { TableName: table, ExclusiveStartKey: from });
    found.push(...page.Items.map((item) => [item.pk.S, JSON.stringify(item)]));
    from = page.LastEvaluatedKey;
  } while (from);
  return found.filter(([pk, text]) => text.includes(id) && !/TRAIL|LINKS/.test(pk)).map(([, text]) => text);
}

const shardOf = (id) => Number.parseInt(id.slice(-2), 16) % SHARDS;

function idLike(id) {
  const made = randomUUID();
  // The last byte of an id determines the shards in the keys of the copied items.
  return made.slice(0, -2) + id.slice(-2);
}

/**
 * Adds `count` users, half of whom can sign in with their addresses. `create(body)` creates a user
 * through the API, and `personOf(number)` returns a user's first name, last name, and the part of
 * the address before the @, in lower case.
 */
export async function fill({ url, table, count, create, personOf }) {
  const models = [[], []];
  for (let made = 0; models.some((shards) => shards.filter(Boolean).length < SHARDS); made += 1) {
    const kind = made % 2;
    const primary_email = `${MARKS.address}${made}@example.com`;
    const { id } = await create({
      display_name: `${MARKS.first} ${MARKS.last}`,
      primary_email,
      primary_email_verified: true,
      primary_email_auth_enabled: kind === 0,
    });
    models[kind][shardOf(id)] ??= { id, made, items: await itemsOf(url, table, id) };
  }
  let batch = [];
  const flush = async () => {
    for (let at = 0; at < batch.length; at += BATCH)
      await ask(url, "BatchWriteItem", { RequestItems: { [table]: batch.slice(at, at + BATCH).map((Item) => ({ PutRequest: { Item } })) } });
    batch = [];
  };
  for (let number = 0; number < count; number += 1) {
    const { id, made, items } = models[number % 2][(number >> 1) % SHARDS];
    const [first, last, address] = personOf(number);
    const own = idLike(id);
    for (const text of items) {
      const copy = text
        .replaceAll(id, own)
        .replaceAll(`${MARKS.address}${made}@`, `${address}@`)
        // Only the item of the user contains the name as displayed; indexes contain its words in
        // lower case.
        .replaceAll(`"${MARKS.first} ${MARKS.last}"`, `"${first} ${last}"`)
        .replaceAll(MARKS.first, first.toLowerCase())
        .replaceAll(MARKS.last, last.toLowerCase());
      batch.push(JSON.parse(copy));
    }
    if (batch.length >= BATCH * 4) await flush();
    if (number % 10_000 === 0) console.error(`${number} users`);
  }
  await flush();
}
