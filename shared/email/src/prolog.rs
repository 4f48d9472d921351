//! Skips whatever may precede the first element of a document without affecting it: a byte order
//! mark, white space, comments, the XML declaration and processing instructions, and the document
//! type.

/// The document, starting from its first element or text.
pub(crate) fn root(document: &str) -> &str {
    let mut left = before_type(document);
    if starts_with(left, "<!doctype") {
        left = before_type(after(left, ">"));
    }
    left
}

/// Whether the document is a whole HTML document.
pub(crate) fn is_whole(document: &str) -> bool {
    let left = before_type(document);
    ["<!doctype", "<html"].iter().any(|start| starts_with(left, start))
}

/// Whether the first element is `<mjml>`.
pub(crate) fn is_mjml(document: &str) -> bool {
    starts_with(root(document), "<mjml")
}

/// The document, starting from its document type or, if there is none, from its first element.
fn before_type(document: &str) -> &str {
    let mut left = document;
    loop {
        let text = left.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
        left = match text {
            _ if text.starts_with("<!--") => after(text, "-->"),
            _ if text.starts_with("<?") => after(text, "?>"),
            _ => return text,
        };
    }
}

/// The text after the first `end`; empty if `end` does not occur.
fn after<'t>(text: &'t str, end: &str) -> &'t str {
    text.split_once(end).map_or("", |(_, rest)| rest)
}

fn starts_with(text: &str, start: &str) -> bool {
    text.get(..start.len()).is_some_and(|found| found.eq_ignore_ascii_case(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: [&str; 8] = [
        "",
        " \r\n\t",
        "\u{feff}",
        "<!-- <p>a comment</p> -->",
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n",
        "\u{feff}<?xml version=\"1.0\"?><!-- a --><!-- b -->\n",
        "<!--[if mso]><p>x</p><![endif]-->",
        "<?xml version=\"1.0\"?>\n<?xml-stylesheet href=\"a\"?>",
    ];

    #[test]
    fn what_precedes_the_first_element_does_not_change_what_a_document_is() {
        for before in BEFORE {
            for (document, mjml, whole) in [
                ("<mjml>", true, false),
                ("<MJML lang=\"de\">", true, false),
                ("<!DOCTYPE mjml>\n<!-- x --><mjml>", true, true),
                ("<html>", false, true),
                ("<!doctype html><p>", false, true),
                ("<p>Hello</p><mjml>", false, false),
                ("Hello", false, false),
                ("", false, false),
            ] {
                let text = format!("{before}{document}");
                assert_eq!((is_mjml(&text), is_whole(&text)), (mjml, whole), "{text:?}");
            }
        }
        assert_eq!(root("<!-- without an end <mjml>"), "");
        assert_eq!(root("\u{feff}<!DOCTYPE mjml> <mjml>ü"), "<mjml>ü");
    }
}
