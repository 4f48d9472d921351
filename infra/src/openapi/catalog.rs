//! Every error code of both APIs, with its status and its explanation, as on the page to which
//! errors link.

use std::borrow::Cow;

use api::content::Problem;
use errors::{ErrorCode, KnownError};
use serde::Serialize;

/// The entry for a code in the catalog.
#[derive(Debug, Serialize)]
pub struct CodeEntry {
    pub code: &'static str,
    pub status: u16,
    /// The situation in which the error is returned.
    pub text: String,
    /// Advice for the developer who receives the error.
    pub hint: Cow<'static, str>,
    /// The names of the fields of `details`.
    pub details: Vec<String>,
}

/// The codes of the product API, followed by those of the content API.
pub fn entries() -> Vec<CodeEntry> {
    let content = Problem::ALL.map(|problem| CodeEntry {
        code: problem.code(),
        status: problem.status().as_u16(),
        text: problem.to_string(),
        hint: problem.hint(),
        details: Vec::new(),
    });
    KnownError::samples().map(|error| entry(&error)).chain(content).collect()
}

fn entry(error: &KnownError) -> CodeEntry {
    let (code, body) = (ErrorCode::from(error), error.body());
    let details = body["details"].as_object().map(|details| details.keys().cloned().collect()).unwrap_or_default();
    CodeEntry { code: code.name(), status: code.status().as_u16(), text: code.meaning().to_owned(), hint: code.hint().into(), details }
}
