// verify.mjs
import { createRemoteJWKSet, jwtVerify } from "jose";

const project = process.env.GATELET_PROJECT_ID;
const issuer = `${process.env.GATELET_URL ?? "http://localhost:8787"}/api/v1/projects/${project}`;
const keys = createRemoteJWKSet(new URL(`${issuer}/.well-known/jwks.json`));

/** The claims of an access token; throws if the token is invalid. */
export async function verify(token) {
  const options = { issuer, audience: project, algorithms: ["ES256", "RS256"], typ: "at+jwt", requiredClaims: ["exp", "sub"] };
  const { payload } = await jwtVerify(token, keys, options);
  return payload;
}
