// server.mjs
import { createServer } from "node:http";
import { verify } from "./verify.mjs";

const origin = process.env.APP_ORIGIN ?? "http://localhost:5173";
const cors = { "access-control-allow-origin": origin, "access-control-allow-headers": "authorization", vary: "origin" };

const server = createServer(async (request, response) => {
  const answer = (status, body) => {
    response.writeHead(status, { ...cors, "content-type": "application/json" });
    response.end(JSON.stringify(body));
  };
  if (request.method === "OPTIONS") return response.writeHead(204, cors).end();
  if (request.url !== "/notes") return answer(404, { error: "there is no such page" });
  try {
    const [, token] = request.headers.authorization?.match(/^Bearer (\S+)$/) ?? [];
    const claims = await verify(token ?? "");
    answer(200, { notes: [`Hello, ${claims.email}`] });
  } catch (error) {
    // A wrong token is the caller's fault; keys that cannot be fetched are not.
    const isWrongToken = /^ERR_(JWT|JWS|JWKS_NO_MATCHING|JOSE_ALG|JOSE_NOT_SUPPORTED)/.test(error.code);
    answer(isWrongToken ? 401 : 503, { error: isWrongToken ? "sign in first" : "try again later" });
  }
});
server.listen(Number(process.env.PORT ?? 4000), "localhost", () => console.log("The server answers."));
