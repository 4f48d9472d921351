// Shared by both programs.

declare const process: { env: Record<string, string | undefined> };

function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set`);
  return value;
}

export const URL = setting("URL");
export const ADDRESS = setting("ADDRESS");
export const SIGN_UP = {
  email: ADDRESS,
  password: "correct horse battery",
  verification_callback_url: "http://localhost:3000/verify",
};

/** The headers of a caller at this access level. */
export function headers(level: "client" | "server", token?: string): Record<string, string> {
  const key = level === "client" ? "Publishable-Client-Key" : "Secret-Server-Key";
  return {
    "X-Service-Access-Type": level,
    "X-Service-Project-Id": setting("PROJECT"),
    [`X-Service-${key}`]: setting(level === "client" ? "CLIENT_KEY" : "SERVER_KEY"),
    ...(token === undefined ? {} : { "X-Service-Access-Token": token }),
  };
}

export function expect(condition: unknown, otherwise: unknown): asserts condition {
  if (!condition) throw new Error(JSON.stringify(otherwise, null, 1));
}

/** Reads until there is a result, for up to ten seconds. */
export async function eventually<T>(read: () => Promise<T | undefined>): Promise<T> {
  for (let tries = 0; tries < 100; tries += 1) {
    const found = await read();
    if (found !== undefined) return found;
    await new Promise((done) => setTimeout(done, 100));
  }
  throw new Error("nothing was found within ten seconds");
}
