//! Every code of both interfaces with its status: the part of the documentation that errors link to.

use serde::Serialize;
use shared::content_api::Problem;
use shared::product_api::KnownError;

/// A code as a reader looks it up.
#[derive(Debug, Serialize)]
pub struct CodeEntry {
    pub code: &'static str,
    pub status: u16,
    /// Its sentence, when that has nothing of the single case in it.
    pub text: String,
    /// Names of the fields of `details`.
    pub details: Vec<String>,
}

/// The codes of interface B, then those of interface A.
pub fn entries() -> Vec<CodeEntry> {
    let content = Problem::ALL.map(|problem| CodeEntry {
        code: problem.code(),
        status: problem.status().as_u16(),
        text: problem.to_string(),
        details: Vec::new(),
    });
    KnownError::samples().map(|error| of(&error)).chain(content).collect()
}

fn of(error: &KnownError) -> CodeEntry {
    let body = error.body();
    let details: Vec<String> = body["details"].as_object().map(|details| details.keys().cloned().collect()).unwrap_or_default();
    let text = if details.is_empty() { error.to_string().trim_end_matches([':', ' ']).to_owned() } else { String::new() };
    CodeEntry { code: error.code(), status: error.status().as_u16(), text, details }
}
