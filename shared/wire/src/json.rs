//! Checks of JSON texts before they are parsed: the byte order mark, and the complexity of a text.

/// The maximum number of the characters `{`, `[`, `,` and `:` outside the strings of a JSON text. A
/// parsed object or array takes hundreds of times the memory of the few characters that describe
/// it.
pub const MAX_MARKS: usize = 20_000;

/// Whether a JSON text is too complex to be parsed ([`MAX_MARKS`]). The text need not be valid: up
/// to the first error, at which a parser stops, this function sees the same strings as the parser.
pub fn is_too_complex(text: &[u8]) -> bool {
    let (mut is_in_string, mut is_escaped, mut marks) = (false, false, 0);
    for byte in text {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_in_string,
            b'"' => is_in_string = !is_in_string,
            b'{' | b'[' | b',' | b':' if !is_in_string => marks += 1,
            _ => {}
        }
    }
    marks > MAX_MARKS
}

/// A JSON text without the byte order mark that some programs, mostly on Windows, write at the
/// start. Parsers may ignore the mark (RFC 8259 §8.1), which has no other meaning in JSON.
pub fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_outside_strings_count() {
        for mark in ["{", "[", ",", ":"] {
            assert!(!is_too_complex(mark.repeat(MAX_MARKS).as_bytes()), "{mark}");
            assert!(is_too_complex(mark.repeat(MAX_MARKS + 1).as_bytes()), "{mark}");
        }
    }

    #[test]
    fn marks_in_strings_do_not_count() {
        let marks = "{[,:".repeat(MAX_MARKS);
        for text in [format!("\"{marks}\""), format!("\"\\\"{marks}\""), format!("\"\\\\\\\"{marks}\""), format!("\"\",\"{marks}\"")] {
            assert!(!is_too_complex(text.as_bytes()), "{}", &text[..10]);
        }
        for text in [format!("\"\"{marks}"), format!("\"\\\\\"{marks}"), format!("\\\"\"{marks}"), format!("\"\\u0022\"{marks}")] {
            assert!(is_too_complex(text.as_bytes()), "{}", &text[..10]);
        }
    }
}
