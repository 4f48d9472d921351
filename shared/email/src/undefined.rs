//! Names the variable that a template uses but its context lacks. The engine reports only the line,
//! but template authors need the name.

use std::sync::Arc;

use minijinja::value::{Enumerator, Object};
use minijinja::{Environment, Error, ErrorKind, Template, Value};

/// The maximum edit distance of a suggested name.
const NEAR: usize = 2;
/// The maximum length of a name to compare, in bytes: comparing takes time in proportion to the
/// product of both lengths.
const MAX_COMPARED: usize = 64;

/// The value of `user` if the recipient is not a user. The value is false in a condition, and its
/// fields are `none`, so that one template works for recipients with and without an account.
#[derive(Debug)]
pub(crate) struct Nobody;

const FIELDS: &[&str] = &["id", "display_name", "primary_email"];

impl Object for Nobody {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        FIELDS.contains(&key.as_str()?).then(|| Value::from(()))
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Str(FIELDS)
    }

    fn is_true(self: &Arc<Self>) -> bool {
        false
    }
}

/// Names the variable that made a template fail, if it can be found: a variable in the line of the
/// error that is missing from the context.
pub(crate) fn diagnose(
    environment: &Environment<'_>,
    template: &Template<'_, '_>,
    source: &str,
    error: &Error,
    context: &Value,
) -> Option<String> {
    if error.kind() != ErrorKind::UndefinedError {
        return None;
    }
    let line = error.line().and_then(|line| source.lines().nth(line.checked_sub(1)?))?;
    let is_global = |path: &str| environment.globals().any(|(name, _)| path.split('.').next() == Some(name));
    let mut missing: Vec<UndefinedName> = template
        .undeclared_variables(true)
        .into_iter()
        .filter(|path| line.contains(path.as_str()) && !is_global(path))
        .filter_map(|path| UndefinedName::of(path, context))
        .collect();
    missing.sort_by(|one, other| one.path.cmp(&other.path));
    let first = missing.into_iter().next()?;
    Some(match first.near {
        Some(near) => format!("undefined variable `{}`; did you mean `{near}`?", first.path),
        None => format!("undefined variable `{}`", first.path),
    })
}

struct UndefinedName {
    path: String,
    /// The name that the author probably meant, with the path to it.
    near: Option<String>,
}

impl UndefinedName {
    /// Follows a path into the context; `None` if the context contains the whole path.
    fn of(path: String, context: &Value) -> Option<Self> {
        let mut value = context.clone();
        let mut known = String::new();
        for name in path.split('.') {
            let next = value.get_attr(name).ok().filter(|next| !next.is_undefined());
            let Some(next) = next else {
                let near = near(&value, name).map(|near| format!("{known}{near}"));
                return Some(Self { path, near });
            };
            known = format!("{known}{name}.");
            value = next;
        }
        None
    }
}

/// The object's key that is closest to `name`; `None` if no key is close.
fn near(object: &Value, name: &str) -> Option<String> {
    if name.len() > MAX_COMPARED {
        return None;
    }
    let keys = object.try_iter().ok()?.filter_map(|key| key.as_str().filter(|key| key.len() <= MAX_COMPARED).map(str::to_owned));
    let distances = keys.map(|key| (strsim::damerau_levenshtein(&key, name), key));
    distances.filter(|(distance, key)| *distance <= NEAR && *distance < key.len()).min().map(|(_, key)| key)
}
