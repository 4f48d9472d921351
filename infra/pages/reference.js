// The search of the API reference: shows the operations that contain every word typed so far.

const search = document.querySelector("#search");
const rows = [...document.querySelectorAll("tr[data-words]")];
const count = document.querySelector("#count");

function filter() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const row of rows) {
    row.hidden = !words.every((word) => row.dataset.words.includes(word));
    shown += row.hidden ? 0 : 1;
  }
  for (const area of document.querySelectorAll("section[data-area]")) area.hidden = !area.querySelector("tr[data-words]:not([hidden])");
  count.textContent = shown === 1 ? "1 operation" : `${shown} operations`;
  document.querySelector("#nothing").hidden = shown > 0;
  const url = new URL(location.href);
  if (search.value) url.searchParams.set("q", search.value);
  else url.searchParams.delete("q");
  history.replaceState(null, "", url);
}

if (search) {
  search.addEventListener("input", filter);
  search.form.addEventListener("submit", (event) => {
    event.preventDefault();
    document.querySelector("tr[data-words]:not([hidden]) a.row")?.focus();
  });
  // Redirects error codes in the URL of this page to the page about errors.
  if (location.hash && !document.getElementById(location.hash.slice(1))) location.replace(`/docs/errors${location.hash}`);
}
