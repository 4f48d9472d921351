//! Normalization of codes, which people copy, paste and type in many forms.

/// A code without spaces, line ends, dashes and invisible characters. These characters are never
/// part of a code, but appear when a code is copied from an email or grouped for reading.
/// Full-width letters and digits, from Chinese and Japanese keyboards, become ASCII.
pub fn typed(text: &str) -> String {
    text.chars().filter(|c| !is_separator(*c)).map(narrow).collect()
}

fn is_separator(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || matches!(
            c,
            '-' | '\u{ad}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2010}'..='\u{2015}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{2064}'
                | '\u{2066}'..='\u{2069}'
                | '\u{2212}'
                | '\u{fe58}'
                | '\u{fe63}'
                | '\u{feff}'
                | '\u{ff0d}'
        )
}

/// The ASCII character for a full-width character (Unicode block *Halfwidth and Fullwidth Forms*).
fn narrow(c: char) -> char {
    match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pasted_code_is_what_remains_of_it() {
        for text in [
            "123456",
            " 123456\r\n",
            "123 456",
            "123-456",
            "123\u{a0}456",
            "1 2 3 4 5 6",
            "123\u{2013}456",
            "\u{200b}123456\u{feff}",
            "\u{2066}123456\u{2069}",
            "１２３４５６",
            "１２３－４５６",
            "123\u{3000}456",
        ] {
            assert_eq!(typed(text), "123456", "{text:?}");
        }
        assert_eq!(typed("ＡＢＣ def"), "ABCdef");
        for text in ["12345.", "12:34", "1_2", "é"] {
            assert_eq!(typed(text), text);
        }
    }
}
