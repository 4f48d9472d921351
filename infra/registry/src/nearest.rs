//! Finds the operation that was probably meant by a request for an unknown path.
//!
//! The response names the route, but never repeats any part of the request. A search takes well
//! under a millisecond, however long the path is. A path cannot mean a route that is shorter than
//! the path, and words of very different lengths are not compared.

use api::http::Route;
use http::Method;

/// The maximum number of changes between a path and the route that it means.
const MAX_CHANGES: usize = 4;
/// A missing segment counts as this many changes, which are few enough that a path may lack
/// `/api/v1`.
const MISSING: usize = 2;

/// The route with the fewest changes from a path. Among equal routes, one with the request's method
/// is preferred, and then the one with the fewest parameters.
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

/// The number of changes that turn the segments of a path into those of a route, up to `max`. After
/// a missing word (`after_gap`), the next segment must not be a parameter, because a parameter
/// takes any value.
fn changes(given: &[&str], route: &[&str], max: usize, after_gap: bool) -> Option<usize> {
    let Some((own, rest)) = route.split_first() else { return given.is_empty().then_some(0) };
    let lacking = (route.len() > given.len()).then(|| Some(changes(given, rest, max.checked_sub(MISSING)?, true)? + MISSING));
    let matching = given.split_first().and_then(|(first, others)| {
        let edits = if own.starts_with('{') { (!after_gap).then_some(0) } else { edits(first, own) }?;
        Some(changes(others, rest, max.checked_sub(edits)?, false)? + edits)
    });
    [lacking.flatten(), matching].into_iter().flatten().min()
}

/// The number of characters that must be added, removed or replaced to turn a word into the word of
/// a route, ignoring case. `None` if the number is more than a quarter of the characters.
fn edits(given: &str, own: &str) -> Option<usize> {
    let max = own.len().div_ceil(4);
    if given.len().abs_diff(own.len()) > max {
        return None;
    }
    // The number of changes from each prefix of `own` to the part of `given` that has been read so
    // far.
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
