// Helpers for all pages: compare and nest values, parse lines and JSON, and make sample values for
// template variables.

/** Whether two JSON values are equal; the order of keys is ignored. */
export function same(a, b) {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && same(a[key], b[key]));
}

/** The fields of `now` that differ from `before`. */
export function changed(before, now) {
  return Object.fromEntries(Object.entries(now).filter(([name, value]) => !same(value ?? null, before[name] ?? null)));
}

/**
 * The fields changed in this form that someone else has set to another value since the form was
 * opened.
 */
export function conflicts(before, mine, now) {
  return Object.keys(mine)
    .filter((name) => !same(before[name] ?? null, now[name] ?? null) && !same(mine[name] ?? null, now[name] ?? null))
    .map((name) => ({ name, before: before[name], now: now[name], mine: mine[name] }));
}

/** The value at a path such as `config.allow_localhost`. */
export function at(value, path) {
  return path.split(".").reduce((inner, name) => inner?.[name], value);
}

/** An object with these values at their paths. */
export function nested(values) {
  const whole = {};
  for (const [path, value] of Object.entries(values)) {
    const names = path.split(".");
    const last = names.pop();
    let inner = whole;
    for (const name of names) inner = inner[name] ??= {};
    inner[last] = value;
  }
  return whole;
}

/** The nonblank lines of a text. */
export function lines(text) {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
}

/** A sample value for a variable, guessed from its name. */
function sample(name) {
  if (/link|url/.test(name)) return "https://example.com/…";
  if (/minutes|hours|days|count/.test(name)) return 10;
  if (/code|otp/.test(name)) return "ABC123";
  return /^(is|has)_/.test(name) ? true : name.replaceAll("_", " ");
}

/**
 * Values for previewing a template. A variable that the template loops over becomes a list of one
 * object, whose fields get the values that the template compares them with, or else sample values.
 */
export function sampleVariables(source) {
  const found = {};
  for (const [, name] of source.matchAll(/\bvariables\.(\w+)/g)) found[name] = sample(name);
  for (const [, item, name] of source.matchAll(/\bfor\s+(\w+)\s+in\s+variables\.(\w+)/g)) {
    const fields = [...source.matchAll(new RegExp(`\\b${item}\\.(\\w+)(?:\\s*==\\s*"([^"]*)")?`, "g"))].reverse();
    found[name] = [Object.fromEntries(fields.map(([, field, value]) => [field, value ?? sample(field)]))];
  }
  return found;
}

/** Parses JSON; an empty text is `null`. */
export function parsed(text) {
  return text.trim() === "" ? null : JSON.parse(text);
}

/** Readable JSON; `null` is an empty text. */
export function printed(value) {
  return value === null || value === undefined ? "" : JSON.stringify(value, null, 2);
}
