// Records which members of the SDK a test calls, and whether a call worked, by wrapping an app, the
// values that it returns, the values that these return, and so on, as the type declarations
// describe them. A call that rejects, or that returns the SDK's result for an error, did not work.
// Without the environment variable MEMBERS, nothing is wrapped.

import { appendFileSync, readFileSync } from "node:fs";

const folder = process.env.MEMBERS;
const schema = folder && JSON.parse(readFileSync(`${folder}/${process.env.SDK}.json`, "utf8"));
const outcomes = new Set();
if (folder) process.once("exit", () => appendFileSync(`${folder}/${process.env.SDK}.called`, [...outcomes, ""].join("\n")));

/** Wraps an app of this type, so that its calls are recorded. */
export function track(app, type) {
  return schema ? wrap(app, schema.roots[type]) : app;
}

function wrap(value, at) {
  if (at === null || at === undefined || value === null || typeof value !== "object") return value;
  if (value instanceof Error || value instanceof Date) return value;
  if (Array.isArray(value)) return Object.assign(value.map((item) => wrap(item, at)), namedOf(value));
  const node = schema.nodes[at];
  // Values of the SDK are frozen, and the proxy of a frozen object must return the object's own
  // values. So the proxy's target is an empty object.
  return new Proxy({}, {
    get: (_, name) => get(value, name, node),
    has: (_, name) => name in value,
    ownKeys: () => Reflect.ownKeys(value),
    getPrototypeOf: () => Object.getPrototypeOf(value),
    getOwnPropertyDescriptor: (_, name) => {
      const property = Object.getOwnPropertyDescriptor(value, name);
      return property && { value: get(value, name, node), enumerable: property.enumerable, configurable: true, writable: true };
    },
    set: (_, name, given) => Reflect.set(value, name, given),
  });
}

/** The properties that a list has in addition to its items. */
function namedOf(list) {
  return Object.fromEntries(Object.entries(list).filter(([name]) => !/^\d+$/.test(name)));
}

function get(target, name, node) {
  const value = target[name];
  const known = typeof name === "string" && Object.hasOwn(node, name) ? node[name] : undefined;
  if (!known) return value;
  if (typeof value !== "function") return wrap(value, known.to);
  return (...given) => {
    const done = (answer) => {
      note(known.member, isError(answer) ? "failed" : "worked");
      return wrap(answer, known.to);
    };
    const failed = (error) => {
      note(known.member, "failed");
      throw error;
    };
    let answer;
    try {
      answer = value.apply(target, given);
    } catch (error) {
      failed(error);
    }
    return answer instanceof Promise ? answer.then(done, failed) : done(answer);
  };
}

function note(member, outcome) {
  if (member) outcomes.add(`${member} ${outcome}`);
}

/** Whether this is the SDK's result for an error. */
function isError(answer) {
  return answer !== null && typeof answer === "object" && answer.status === "error" && "error" in answer;
}
