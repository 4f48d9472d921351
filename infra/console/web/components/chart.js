// Small charts, drawn as SVG.

import { h } from "../core/dom.js";
import { count, day } from "../core/format.js";
import { metrics as m } from "../texts-overview.js";

const WIDTH = 300;
const HEIGHT = 64;

/** The heights of bars in SVG units; any number above zero gets a visible bar. */
export function heights(numbers, height = HEIGHT) {
  const max = Math.max(...numbers, 1);
  return numbers.map((number) => (number === 0 ? 0 : Math.max(2, Math.round((number / max) * height))));
}

/** A bar chart of days, with a table of its figures for screen readers. */
export function bars(title, series, { total } = {}) {
  const tall = heights(series.map(({ activity }) => activity));
  const width = WIDTH / Math.max(series.length, 1);
  const sum = total ?? series.reduce((all, { activity }) => all + activity, 0);
  const picture = h(
    "svg",
    {
      viewBox: `0 0 ${WIDTH} ${HEIGHT + 1}`,
      class: "bars",
      role: "img",
      "aria-label": m.picture(title, series.length),
      preserveAspectRatio: "none",
    },
    series.map(({ date, activity }, index) =>
      h(
        "g",
        {},
        h("title", {}, `${date}: ${count(activity)}`),
        h("rect", { class: "hit", x: index * width, y: 0, width, height: HEIGHT }),
        h("rect", { class: "bar", x: index * width + 1, y: HEIGHT - tall[index], width: Math.max(width - 2, 1), height: tall[index] }),
      ),
    ),
    h("line", { class: "ground", x1: 0, y1: HEIGHT + 0.5, x2: WIDTH, y2: HEIGHT + 0.5 }),
  );
  const figures = h(
    "details",
    { class: "figures" },
    h("summary", {}, m.figures),
    h(
      "div",
      { class: "scroll", tabindex: "0" },
      h(
        "table",
        { "aria-label": title },
        h("thead", {}, h("tr", {}, h("th", { scope: "col" }, m.day), h("th", { scope: "col" }, m.number))),
        h(
          "tbody",
          {},
          series.map(({ date, activity }) => h("tr", {}, h("td", {}, date), h("td", {}, count(activity)))),
        ),
      ),
    ),
  );
  return h(
    "div",
    { class: "panel" },
    h("h2", {}, title),
    h("p", { class: "figure" }, count(sum)),
    picture,
    series.length > 0 && h("p", { class: "axis muted" }, h("span", {}, day(series[0].date)), h("span", {}, day(series.at(-1).date))),
    figures,
  );
}

/** Names, numbers and bars, scaled to the largest number. */
export function shares(title, entries, none) {
  const max = Math.max(...entries.map(({ number }) => number), 1);
  return h(
    "div",
    { class: "panel" },
    h("h2", {}, title),
    entries.length
      ? h(
          "ul",
          { class: "shares" },
          entries.map(({ name, number }) =>
            h(
              "li",
              {},
              h("span", {}, name),
              h("span", {}, count(number)),
              h(
                "svg",
                { viewBox: "0 0 100 4", class: "share", "aria-hidden": "true", preserveAspectRatio: "none" },
                h("rect", { class: "track", width: 100, height: 4 }),
                h("rect", { class: "bar", width: (number / max) * 100, height: 4 }),
              ),
            ),
          ),
        )
      : h("p", { class: "muted" }, none),
  );
}
