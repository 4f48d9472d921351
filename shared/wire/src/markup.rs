//! Text in markup.

/// Escapes characters for HTML and XML, including attributes.
pub fn escaped(text: impl Iterator<Item = char>) -> String {
    let mut escaped = String::with_capacity(text.size_hint().1.unwrap_or_default());
    for character in text {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#x27;"),
            other => escaped.push(other),
        }
    }
    escaped
}
