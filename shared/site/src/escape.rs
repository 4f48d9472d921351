//! Escapes the content's texts, so that they do not become markup.

use wire::markup::escaped;

/// Escapes a text for HTML and XML, including attributes, and drops the characters that XML 1.0
/// forbids (§2.2).
pub fn markup(text: &str) -> String {
    let is_forbidden = |character| matches!(character, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}');
    escaped(text.chars().filter(|character| !is_forbidden(*character)))
}

/// Escapes a text for use within a line of Markdown, so that the text cannot begin a new line, a
/// link or an element.
pub fn markdown(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for word in text.split(|character: char| character.is_whitespace() || character.is_control()).filter(|word| !word.is_empty()) {
        if !escaped.is_empty() {
            escaped.push(' ');
        }
        for character in word.chars() {
            if matches!(character, '\\' | '[' | ']' | '<' | '`') {
                escaped.push('\\');
            }
            escaped.push(character);
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_has_no_special_characters_and_none_that_xml_forbids() {
        assert_eq!(markup("<a b=\"c\" d='e'>&\u{0}\u{b}\u{ffff}\n\u{1f4a1}"), "&lt;a b=&quot;c&quot; d=&#x27;e&#x27;&gt;&amp;\n\u{1f4a1}");
    }

    #[test]
    fn a_text_cannot_leave_its_line_of_markdown() {
        assert_eq!(markdown("a](http://b)\n# c\r\u{85}\u{2028}<d> `e` \\"), "a\\](http://b) # c \\<d> \\`e\\` \\\\");
    }
}
