//! The page to which the `documentation_url` of every error leads in deployments. The gateway has a
//! different page at this path, which also links to the operations.

use api::content::Problem;
use api::http::{Page, escape_html};
use axum::response::{IntoResponse, Response};
use errors::ErrorCode;
use http::StatusCode;

pub(crate) const PATH: &str = "/docs/errors";

pub(crate) fn show() -> Response {
    let product = ErrorCode::all().map(|code| entry(code.name(), code.status(), code.meaning(), code.hint()));
    let content = Problem::ALL.map(|problem| entry(problem.code(), problem.status(), &problem.to_string(), &problem.hint()));
    let body: String = product.chain(content).collect();
    Page::of(StatusCode::OK, "Error codes", &body).into_response()
}

fn entry(code: &str, status: StatusCode, meaning: &str, hint: &str) -> String {
    format!("<p id=\"{code}\"><b>{code}</b> ({})<br>{}<br>{}</p>\n", status.as_u16(), prose(meaning), prose(hint))
}

/// Renders a sentence as HTML, with text in backticks as code.
fn prose(text: &str) -> String {
    let parts = text.split('`').enumerate().map(|(number, part)| match number % 2 {
        0 => escape_html(part),
        _ => format!("<code>{}</code>", escape_html(part)),
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renders_backticks_as_code_and_escapes_markup() {
        assert_eq!(prose("Send `a: <b>` & more."), "Send <code>a: &lt;b&gt;</code> &amp; more.");
    }
}
