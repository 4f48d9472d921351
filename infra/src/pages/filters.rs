//! Filters for the templates of pages.

use jiff::Timestamp;
use minijinja::{Environment, HtmlEscape, Value};

use crate::render::prose;

pub(super) fn add(environment: &mut Environment<'static>) {
    environment.add_filter("prose", prose);
    environment.add_filter("time", |millis: i64| time(millis, ""));
    environment.add_filter("ago", |millis: i64| time(millis, " class=\"ago\""));
    environment.add_filter("count", count);
    environment.add_filter("short", short);
    environment.add_filter("highlight", highlight);
}

/// A time as an element that scripts turn into a relative or local time; without scripts, the
/// element shows UTC.
fn time(millis: i64, class: &str) -> Value {
    let Ok(moment) = Timestamp::from_millisecond(millis) else { return Value::from("") };
    let text = moment.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let shown = text.replace('T', " ").replace('Z', " UTC");
    Value::from_safe_string(format!("<time{class} datetime=\"{}\">{}</time>", HtmlEscape(&text), HtmlEscape(&shown)))
}

/// Code as HTML with highlighted syntax.
fn highlight(code: &str, language: &str) -> Value {
    Value::from_safe_string(site::code::highlighted(language, code))
}

/// A number with separators between thousands.
fn count(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits.as_bytes().rchunks(3).rev().filter_map(|group| std::str::from_utf8(group).ok()).collect();
    groups.join(",")
}

/// An id, shortened in the middle if it is longer than 13 characters.
fn short(id: &str) -> String {
    let characters: Vec<char> = id.chars().collect();
    match characters.len() {
        0..=13 => id.to_owned(),
        length => characters[..6].iter().chain(&['…']).chain(&characters[length - 4..]).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_ids_shortened() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([short("internal"), short("12718bb3-649e-4015-b729-6049077f93e2")], ["internal", "12718b…93e2"]);
    }

    #[test]
    fn a_time_is_an_element_with_a_machine_readable_time() {
        assert_eq!(time(1_773_144_000_000, "").to_string(), "<time datetime=\"2026-03-10T12:00:00Z\">2026-03-10 12:00:00 UTC</time>");
        assert_eq!(time(i64::MAX, "").to_string(), "");
    }
}
