//! The regular expressions in conditions. Literals are compiled once; all other expressions, such
//! as the elements of a list, are compiled when they are used.

use std::collections::HashMap;
use std::sync::Arc;

use cel::ExecutionError;
use cel::extractors::This;
use regex_lite::{Regex, RegexBuilder};

use crate::sign_up::budget::{Budget, BudgetRefusal};

/// The compiled sizes to try, in bytes, in ascending order: `regex-lite` does not report a compiled
/// size, only whether a limit was exceeded.
const SIZES: [usize; 13] = [512, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12_288, 16_384, 24_576, 32_768, 65_536];
/// The maximum compiled size of a regular expression that is compiled when it is used.
pub(crate) const MAX_DYNAMIC: usize = 2048;
/// The maximum length of a text that is compared with a regular expression, in bytes. Email
/// addresses are at most 256 bytes long.
const MAX_TEXT: u64 = 1024;
/// How many compiled bytes count as one step; a state takes 32 bytes.
const COMPILED_PER_STEP: usize = 64;
/// The steps of parsing a byte of a regular expression.
const STEPS_PER_BYTE: u64 = 2;
/// The smallest compiled size to try, per byte of a regular expression: most letters become a
/// state, so a smaller size would fail.
const MIN_PER_BYTE: usize = 16;
/// How many pairs of one compiled byte and one byte of the text are compared per step. Each byte of
/// the text visits each state at most once.
const PAIRS_PER_STEP: u64 = 768;

/// The compiled regular expressions in a project's rules, by text.
#[derive(Debug, Default)]
pub(crate) struct Patterns(HashMap<String, (Regex, usize)>);

/// Why a literal cannot be compiled.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PatternRefusal {
    #[error(transparent)]
    Exceeded(#[from] BudgetRefusal),
    #[error("{0}")]
    Invalid(String),
}

impl Patterns {
    /// Compiles a literal, unless it was already compiled for another condition, and returns its
    /// compiled size in bytes.
    pub(crate) fn add(&mut self, pattern: &str, budget: &mut Budget) -> Result<usize, PatternRefusal> {
        if let Some((_, size)) = self.0.get(pattern) {
            return Ok(*size);
        }
        let (mut error, max) = (None, SIZES[SIZES.len() - 1]);
        let min = (pattern.len() * MIN_PER_BYTE).min(max);
        for size in SIZES.into_iter().filter(|size| *size >= min) {
            budget.work(steps_of_compiling(pattern.len() as u64, size))?;
            match build(pattern, size) {
                Ok(regex) => {
                    budget.keep(memory(&regex, size))?;
                    self.0.insert(pattern.to_owned(), (regex, size));
                    return Ok(size);
                }
                Err(reason) => error = Some(reason),
            }
        }
        Err(PatternRefusal::Invalid(error.unwrap_or_default()))
    }

    /// The function `matches`.
    pub(crate) fn matches(self: Arc<Self>) -> impl Fn(This<Arc<String>>, Arc<String>) -> Result<bool, ExecutionError> + Send + Sync {
        move |This(text), pattern| {
            let failed = |error: String| ExecutionError::function_error("matches", error);
            if text.len() as u64 > MAX_TEXT {
                return Err(failed(format!("the text is longer than {MAX_TEXT} bytes")));
            }
            match self.0.get(&*pattern) {
                Some((regex, _)) => Ok(regex.is_match(&text)),
                None => Ok(build(&pattern, MAX_DYNAMIC).map_err(failed)?.is_match(&text)),
            }
        }
    }
}

/// The steps of compiling a regular expression of this length, in bytes, to at most this compiled
/// size.
pub(crate) fn steps_of_compiling(length: u64, size: usize) -> u64 {
    length.saturating_mul(STEPS_PER_BYTE).saturating_add((size / COMPILED_PER_STEP) as u64)
}

/// The steps of comparing a regular expression of this compiled size with a text of this length, in
/// bytes.
pub(crate) fn steps_of_matching(size: usize, text: u64) -> u64 {
    text.min(MAX_TEXT).saturating_add(1).saturating_mul(size as u64) / PAIRS_PER_STEP + 1
}

fn build(pattern: &str, size: usize) -> Result<Regex, String> {
    RegexBuilder::new(pattern).size_limit(size).build().map_err(|error| error.to_string())
}

/// The memory of a compiled regular expression, in bytes. A search keeps two positions of 8 bytes
/// for each state (of 32 bytes) and group, in two tables; concurrent evaluations have separate
/// tables.
fn memory(regex: &Regex, size: usize) -> usize {
    size + size / 32 * regex.captures_len() * 32
}
