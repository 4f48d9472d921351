//! Helpers for the requests and the URLs of pages.

use http::{HeaderMap, header};

/// The path of the console.
pub(super) const CONSOLE: &str = "/console";

/// Whether a person will see the response. When a browser opens a page, it sends `text/html` in
/// `Accept`; programs do not.
pub(super) fn wants_html(headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    accepted.split(',').any(|one| one.split(';').next().is_some_and(|one| one.trim() == "text/html"))
}

/// A path with a query that contains the parameters with a value.
pub(super) fn path_with(path: &str, parameters: &[(&str, &str)]) -> String {
    let given = parameters.iter().filter(|(_, value)| !value.is_empty());
    let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(given).finish();
    if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn only_a_browser_is_sent_a_page() {
        let wants = |accept: &'static str| wants_html(&HeaderMap::from_iter([(header::ACCEPT, HeaderValue::from_static(accept))]));
        assert!(wants("text/html,application/xhtml+xml,*/*;q=0.8"));
        assert!(!wants("*/*") && !wants("application/json") && !wants_html(&HeaderMap::new()));
    }

    #[test]
    fn empty_parameters_are_left_out_of_a_link() {
        assert_eq!(path_with("/inbox", &[("q", "a&b c"), ("to", "")]), "/inbox?q=a%26b+c");
        assert_eq!(path_with("/inbox", &[("q", "")]), "/inbox");
    }
}
