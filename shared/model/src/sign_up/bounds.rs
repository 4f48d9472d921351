//! Bounds on the work of a condition. Conditions come from servers and administrators of a project,
//! and every sign-up of the project may evaluate them, so an expensive one would delay the requests
//! of other projects.
//!
//! Without macros such as `map` and `exists`, the work grows with the length of the condition,
//! which is limited. Nested or chained macros multiply it: each `.map(x, x + x)` doubles a string.
//! So a macro may be neither in the body nor in the list of another one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use cel::ExecutionError;
use cel::IdedExpr;
use cel::common::ast::{EntryExpr, Expr};
use cel::extractors::This;
use regex_lite::{Regex, RegexBuilder};

/// The largest product of the sizes of a macro's list and body, each in nodes of the syntax tree.
/// For a list of 100 domains, each compared in two ways, it is about 1,700.
const MAX_MACRO: usize = 4000;
/// The largest compiled regular expression, in bytes.
const MAX_REGEX: usize = 64 * 1024;
/// Regular expressions of up to this compiled size, in bytes, count once.
const SMALL_REGEX: usize = 4 * 1024;
/// How often a larger regular expression counts.
const LARGE: u32 = 16;
/// How many regular expressions an evaluation may use.
const REGEXES: u32 = 64;
/// The longest text that is compared with a regular expression, in bytes. Email addresses have at
/// most 254 bytes.
const MAX_TEXT: usize = 1024;

/// Refuses an expression whose work could be many times its length.
pub(crate) fn check(expression: &IdedExpr) -> Result<(), &'static str> {
    size(expression, false).map(drop)
}

/// The number of nodes of an expression; in a macro, no further macro is permitted.
fn size(expression: &IdedExpr, is_in_macro: bool) -> Result<usize, &'static str> {
    match &expression.expr {
        Expr::Unspecified | Expr::Ident(_) | Expr::Literal(_) => Ok(1),
        Expr::Call(call) => sum(call.target.as_deref().into_iter().chain(&call.args), is_in_macro),
        Expr::List(list) => sum(&list.elements, is_in_macro),
        Expr::Select(select) => sum([&*select.operand], is_in_macro),
        Expr::Map(map) => sum(map.entries.iter().flat_map(|entry| parts(&entry.expr)), is_in_macro),
        Expr::Struct(fields) => sum(fields.entries.iter().flat_map(|entry| parts(&entry.expr)), is_in_macro),
        Expr::Comprehension(_) if is_in_macro => Err("macros such as `map` and `exists` cannot be nested or chained"),
        Expr::Comprehension(each) => {
            let list = size(&each.iter_range, true)?;
            let body = sum([&each.accu_init, &each.loop_cond, &each.loop_step, &each.result], true)?;
            if list * body > MAX_MACRO {
                return Err("the list of a macro such as `map` or `exists` is too long for its body");
            }
            Ok(list + body)
        }
    }
}

/// The number of nodes of an expression with these parts.
fn sum<'a>(parts: impl IntoIterator<Item = &'a IdedExpr>, is_in_macro: bool) -> Result<usize, &'static str> {
    parts.into_iter().try_fold(1, |sum, part| Ok(sum + size(part, is_in_macro)?))
}

fn parts(entry: &EntryExpr) -> impl Iterator<Item = &IdedExpr> {
    let (key, value) = match entry {
        EntryExpr::StructField(field) => (None, &field.value),
        EntryExpr::MapEntry(entry) => (Some(&entry.key), &entry.value),
    };
    key.into_iter().chain([value])
}

/// The function `matches` for one evaluation, which fails once [`REGEXES`] are used up.
pub(crate) fn matches() -> impl Fn(This<Arc<String>>, Arc<String>) -> Result<bool, ExecutionError> + Send + Sync + 'static {
    let left = AtomicU32::new(REGEXES);
    move |This(text), pattern| {
        let failed = |error: String| ExecutionError::function_error("matches", error);
        if text.len() > MAX_TEXT {
            return Err(failed(format!("the text is longer than {MAX_TEXT} bytes")));
        }
        Ok(compile(&pattern, &left).map_err(failed)?.is_match(&text))
    }
}

fn compile(pattern: &str, left: &AtomicU32) -> Result<Regex, String> {
    let of = |size| RegexBuilder::new(pattern).size_limit(size).build();
    let take = |count: u32| {
        let taken = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(count));
        taken.map(drop).map_err(|_| "the condition uses too many regular expressions")
    };
    take(1)?;
    of(SMALL_REGEX).or_else(|_| {
        take(LARGE - 1)?;
        of(MAX_REGEX).map_err(|error| error.to_string())
    })
}
