//! Finds the operation that a request for an unknown path probably meant.
//!
//! The answer names the route, and never repeats any part of the request. A search takes well under
//! a millisecond, however long the path: a path longer than a route's cannot mean that route, and
//! words of very different lengths are not compared.

use api::http::Route;
use http::Method;

/// The maximum number of changes between a path and the intended route.
const MAX_CHANGES: usize = 4;
/// How many changes a missing segment counts as; low enough that a path may lack `/api/v1`.
const MISSING: usize = 2;

/// The route with the fewest changes from a path; among equals, one with the request's method, then
/// the one with the fewest parameters.
pub(crate) fn nearest<'a>(routes: &'a [Route], method: &Method, path: &str) -> Option<&'a Route> {
    let given = segments(path);
    let distance = |route: &Route| {
        let own = segments(route.path);
        if given.is_empty() || !(given.len()..=given.len() + MAX_CHANGES / MISSING).contains(&own.len()) {
            return None;
        }
        // A route that begins with a parameter would match any word.
        let changes = changes(&given, &own, MAX_CHANGES, true)?;
        let parameters = own.iter().filter(|segment| segment.starts_with('{')).count();
        Some((changes, route.verb.name() != method.as_str(), parameters))
    };
    routes.iter().filter_map(|route| Some((distance(route)?, route))).min_by_key(|(distance, _)| *distance).map(|(_, route)| route)
}

fn segments(path: &str) -> Vec<&str> {
    path.split('/').filter(|segment| !segment.is_empty()).collect()
}

/// How many changes turn a path's segments into a route's, up to `max`. The word before a parameter
/// must not be missing (`after_gap`), because a parameter takes any value.
fn changes(given: &[&str], route: &[&str], max: usize, after_gap: bool) -> Option<usize> {
    let Some((own, rest)) = route.split_first() else { return given.is_empty().then_some(0) };
    let lacking = (route.len() > given.len()).then(|| Some(changes(given, rest, max.checked_sub(MISSING)?, true)? + MISSING));
    let matching = given.split_first().and_then(|(first, others)| {
        let edits = if own.starts_with('{') { (!after_gap).then_some(0) } else { edits(first, own) }?;
        Some(changes(others, rest, max.checked_sub(edits)?, false)? + edits)
    });
    [lacking.flatten(), matching].into_iter().flatten().min()
}

/// How many characters must be added, removed or replaced to turn a word into a route's, ignoring
/// case; `None` if it is more than a quarter of them.
fn edits(given: &str, own: &str) -> Option<usize> {
    let max = own.len().div_ceil(4);
    if given.len().abs_diff(own.len()) > max {
        return None;
    }
    // The changes from each prefix of `own` to the part of `given` read so far.
    let mut row: Vec<usize> = (0..=own.len()).collect();
    for (read, letter) in given.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], read + 1);
        for (at, other) in own.bytes().enumerate() {
            let replaced = diagonal + usize::from(!letter.eq_ignore_ascii_case(&other));
            diagonal = row[at + 1];
            row[at + 1] = replaced.min(diagonal + 1).min(row[at] + 1);
        }
    }
    row.last().copied().filter(|edits| *edits <= max)
}
