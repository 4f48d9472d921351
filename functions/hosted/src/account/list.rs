//! Shows only the first rows of long lists.

use minijinja::{Value, context};
use serde_json::Value as Json;

use crate::visit::call::Reply;

/// The number of rows that are shown.
const MAX_ROWS: usize = 20;

/// The first rows of a list, and the number of remaining rows.
pub(super) fn list<T>(items: impl IntoIterator<Item = T>, row: impl FnMut(T) -> Value) -> Value {
    let items: Vec<T> = items.into_iter().collect();
    let more = items.len().saturating_sub(MAX_ROWS);
    context! { rows => items.into_iter().take(MAX_ROWS).map(row).collect::<Vec<_>>(), more => more }
}

/// The listed items. Empty if the operation failed.
pub(super) fn items(reply: &Reply) -> &[Json] {
    reply.body["items"].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The text in a field of an item.
pub(super) fn text<'a>(item: &'a Json, name: &str) -> &'a str {
    item[name].as_str().unwrap_or_default()
}

/// The place of an event: the city and the country or, if they are unknown, the IP address.
pub(super) fn place(place: &Json) -> String {
    let parts: Vec<&str> = ["cityName", "countryCode"].iter().filter_map(|name| place[name].as_str()).collect();
    if parts.is_empty() { text(place, "ip").to_owned() } else { parts.join(", ") }
}
