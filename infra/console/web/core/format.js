// Values as text.

/** Letters whose spelling uses joiners, as in names (`shared/model/src/text/line.rs`). */
const JOINED = String.raw`\u0600-\u0dff\u0f00-\u109f\u1700-\u18af\u1900-\u1cff\ua800-\uaadf\uabc0-\uabff\u{10a00}-\u{11fff}`;
const EMOJI = String.raw`\u2190-\u2bff\u{1f000}-\u{1faff}`;
const STRAY = String.raw`\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff`;

/**
 * Control characters except tab and line feed, and characters that change the direction or extent
 * of the surrounding text. Joiners in emoji and after such letters are not among them.
 */
const UNSEEN = new RegExp(
  String.raw`[${STRAY}]|(?<![${JOINED}])\u200c|(?<![${JOINED}])(?<![${EMOJI}\ufe0f](?=\u200d[${EMOJI}]))\u200d`,
  "gu",
);

/** A text with invisible characters replaced by their code points. */
export function visible(text) {
  return String(text).replace(UNSEEN, (character) => `⟨U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}

/** The first `max` characters of a text, with an ellipsis if there are more. */
export function clipped(text, max = 160) {
  const characters = Array.from(text);
  return characters.length > max ? `${characters.slice(0, max).join("")}…` : text;
}

/** An id or key, shortened in the middle if longer than 16 characters. */
export function shortened(id) {
  return id.length > 16 ? `${id.slice(0, 8)}…${id.slice(-4)}` : id;
}

const numbers = new Intl.NumberFormat("en");

export function count(number) {
  return numbers.format(number);
}

/** A share, from 0 to 1, as a percentage. */
export function percent(share) {
  return `${numbers.format(Math.round(share * 1000) / 10)}%`;
}

const UNITS = [
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
  ["second", 1],
];

/** A duration in seconds in its two largest units: 90000 is "1 day 1 hour". */
export function duration(seconds) {
  const parts = [];
  let rest = seconds;
  for (const [unit, size] of UNITS) {
    const whole = Math.floor(rest / size);
    rest -= whole * size;
    if (whole) parts.push(`${count(whole)} ${unit}${whole === 1 ? "" : "s"}`);
  }
  return parts.slice(0, 2).join(" ");
}

/** The `datetime` of a time in milliseconds or as text: to the second, or to the minute. */
export function instant(value, isMinute = false) {
  return `${new Date(value).toISOString().slice(0, isMinute ? 16 : 19)}Z`;
}

const days = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", timeZone: "UTC" });

/** A date such as `2026-11-05` without its year. */
export function day(date) {
  return days.format(new Date(date));
}

/** Words from an identifier: `api-key_created` is "API key created". */
export function words(name) {
  return String(name).replace(/[-_]/g, " ").toLowerCase().replace(/\bapi\b/g, "API").replace(/\boauth\b/g, "OAuth");
}

/** The text with a capital first letter. */
export function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The words of an identifier, capitalized. */
export function title(name) {
  return capital(words(name));
}
