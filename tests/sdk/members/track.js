// Records which members of the SDK a test uses and whether they work. Wraps an app, the values that
// it returns, their return values in turn, and so on, following the type declarations. A call has
// not worked if it rejects or if it returns the SDK's result for an error. A value is "wrong" if
// its kind is not in its declared type, such as an undefined property. Without the environment
// variable MEMBERS, nothing is wrapped.

import { appendFileSync, readFileSync } from "node:fs";

const folder = process.env.MEMBERS;
const schema = folder && JSON.parse(readFileSync(`${folder}/${process.env.SDK}.json`, "utf8"));
const outcomes = new Set();
if (folder) process.once("exit", () => appendFileSync(`${folder}/${process.env.SDK}.called`, [...outcomes, ""].join("\n")));

/** Wraps an app of this type to record its calls; for "exports", the package. */
export function track(app, type) {
  return schema ? wrap(app, schema.roots[type]) : app;
}

/** Wraps a value of one of these nodes' types. */
function wrap(value, nodes) {
  if (nodes.length === 0 || value === null || typeof value !== "object") return value;
  if (value instanceof Error || value instanceof Date) return value;
  if (Array.isArray(value)) return Object.assign(value.map((item) => wrap(item, nodes)), namedOf(value));
  const node = typeOf(value, nodes.map((at) => schema.nodes[at]));
  if (!node) return value;
  for (const [name, known] of Object.entries(node.members)) {
    see(value[name], known.is, `${node.type}.${name}`, !isMethod(known));
    if (!isMethod(known)) wrap(value[name], known.to);
  }
  // The SDK's values are frozen, and the proxy of a frozen object must return the original values
  // of the object. The target of the proxy is therefore an empty object.
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

/**
 * A value's type: among the types whose literals it has, the one with most of its members. A
 * missing member therefore does not turn it into a value of a smaller type.
 */
function typeOf(value, nodes) {
  const rank = ({ members }) => {
    const names = Object.keys(members);
    const missing = names.filter((name) => value[name] === undefined).length;
    return [names.length - missing, -missing];
  };
  const isLess = ([a, b], [c, d]) => a < c || (a === c && b < d);
  return nodes
    .filter(({ literals }) => Object.entries(literals).every(([name, values]) => !(name in value) || values.includes(value[name])))
    .reduce((best, node) => (best && !isLess(rank(best), rank(node)) ? best : node), undefined);
}

/** A list's properties other than its items. */
function namedOf(list) {
  return Object.fromEntries(Object.entries(list).filter(([name]) => !/^\d+$/.test(name)));
}

function isMethod(known) {
  return "calls" in known;
}

/** A method's overloads for this first argument; all if none accepts it. */
function callsOf({ calls }, first) {
  const has = ([name, values]) => name in first && (values === null || values.includes(first[name]));
  const fit = calls.filter(({ takes, needs }) =>
    takes === null || (takes.includes(kindOf(first)) && (kindOf(first) !== "object" || Object.entries(needs).every(has))));
  return fit.length > 0 ? fit : calls;
}

function get(target, name, node) {
  const value = target[name];
  const known = typeof name === "string" && Object.hasOwn(node.members, name) ? node.members[name] : undefined;
  if (!known) return value;
  if (typeof value !== "function" || !isMethod(known)) return wrap(value, known.to);
  const member = `${node.type}.${name}`;
  return (...given) => {
    const calls = callsOf(known, given[0]);
    const gives = calls.some(({ gives }) => gives === null) ? null : calls.flatMap(({ gives }) => gives);
    const done = (answer) => {
      if (isError(answer)) note(member, "failed");
      else see(answer, gives, member, true);
      return wrap(answer, [...new Set(calls.flatMap(({ to }) => to))]);
    };
    const failed = (error) => {
      note(member, "failed");
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

/**
 * Records a value of a kind that its type does not allow. If the kind is allowed and `works` is set,
 * records that the member worked.
 */
function see(value, kinds, member, works) {
  if (kinds !== null && !kinds.includes(kindOf(value))) note(member, `wrong ${kindOf(value)}`);
  else if (works) note(member, "worked");
}

function kindOf(value) {
  if (value === null) return "null";
  if (Array.isArray(value)) return "list";
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "invalid date" : "date";
  return typeof value;
}

function note(member, outcome) {
  outcomes.add(`${member} ${outcome}`);
}

/** Whether this is the SDK's result for an error. */
function isError(answer) {
  return answer !== null && typeof answer === "object" && answer.status === "error" && "error" in answer;
}
