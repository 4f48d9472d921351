//! Reads the input of commands: ids and fields from the command line, passwords from standard
//! input.

use std::fmt::Write as _;

use anyhow::{Context as _, anyhow};
use secrecy::ExposeSecret as _;
use serde_json::{Map, Value};
use wire::entropy::Entropy;
use wire::id::ProjectId;

pub(super) fn project_id(id: &str) -> anyhow::Result<ProjectId> {
    ProjectId::parse(id).map_err(|_| anyhow!("{id:?} is not a project id: expected a UUID or `internal`"))
}

/// Parses an id that `gateway LIST` has printed; `kind` is the kind of object, such as `a team`.
pub(super) fn id<T, E>(id: &str, parse: impl FnOnce(&str) -> Result<T, E>, kind: &str, list: &str) -> anyhow::Result<T> {
    parse(id).map_err(|_| anyhow!("{id:?} is not the id of {kind}: run `gateway {list}` to see the ids"))
}

/// The request body that updates a project or a user with settings of the form `path=value`.
pub(super) fn patch(settings: &[String]) -> anyhow::Result<Value> {
    let mut patch = Value::Object(Map::new());
    for setting in settings {
        let (path, text) = setting.split_once('=').with_context(|| format!("{setting:?} is not path=value"))?;
        let value = serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()));
        let mut pointer = String::new();
        let mut place = &mut patch;
        for name in path.split('.') {
            let _ = write!(pointer, ".{name}");
            let object = place.as_object_mut().with_context(|| {
                let path = pointer.trim_start_matches('.');
                format!("{path} conflicts with another argument, which sets a parent of this field to a value without fields: leave out one of the arguments")
            })?;
            place = object.entry(name).or_insert_with(|| Value::Object(Map::new()));
        }
        *place = value;
    }
    Ok(patch)
}

/// A new password: read from standard input, or generated.
pub(super) fn new_password(entropy: &Entropy, from_stdin: bool) -> anyhow::Result<String> {
    if from_stdin { line() } else { Ok(entropy.code().expose_secret().to_owned()) }
}

/// Reads a password, which is one line of standard input.
fn line() -> anyhow::Result<String> {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).context("cannot read the password from standard input")?;
    let line = line.strip_suffix('\n').unwrap_or(&line);
    Ok(line.strip_suffix('\r').unwrap_or(line).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_become_the_body_of_an_update() {
        let settings = ["display_name=Notes", "config.sign_up_enabled=false", "config.domains=[{\"domain\":\"https://a.test\"}]"];
        let patch = patch(&settings.map(str::to_owned)).expect("a patch");
        let expected = serde_json::json!({
            "display_name": "Notes",
            "config": { "sign_up_enabled": false, "domains": [{ "domain": "https://a.test" }] },
        });
        assert_eq!(patch, expected);
        assert!(super::patch(&["nonsense".to_owned()]).is_err());
    }
}
