//! Profiles of `~/.aws/config` and `~/.aws/credentials` (AWS SDKs and Tools Reference Guide,
//! "Shared config and credentials files").

use std::collections::HashMap;
use std::path::PathBuf;

use wire::environment::variable;

use crate::data::text_of;

/// The settings of a profile from the configuration file and the credentials file.
pub(super) struct Profile {
    pub(super) name: String,
    config: HashMap<String, String>,
    credentials: HashMap<String, String>,
}

impl Profile {
    /// Reads the profile with the given name; `None` if neither file contains it.
    pub(super) fn read(name: &str) -> anyhow::Result<Option<Self>> {
        let [config, credentials] = files();
        let of = |file: Option<PathBuf>, prefix| anyhow::Ok(text(file)?.and_then(|text| section(&text, name, prefix)));
        let (config, credentials) = (of(config, "profile ")?, of(credentials, "")?);
        let is_there = config.is_some() || credentials.is_some();
        let (config, credentials) = (config.unwrap_or_default(), credentials.unwrap_or_default());
        Ok(is_there.then(|| Self { name: name.to_owned(), config, credentials }))
    }

    /// A setting from the credentials file or, if it is not set there, from the configuration file.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.credentials.get(name).or_else(|| self.config.get(name)).map(String::as_str)
    }

    pub(super) fn keys(&self) -> Option<(&str, &str)> {
        Some((self.get("aws_access_key_id")?, self.get("aws_secret_access_key")?))
    }

    /// The kind of the profile's credentials if getting them requires calls to AWS services that
    /// only the AWS CLI makes; otherwise `None`.
    pub(super) fn needs_aws_cli(&self) -> Option<&'static str> {
        let uses = |name| self.get(name).is_some();
        if uses("role_arn") {
            Some("a role")
        } else if uses("sso_session") || uses("sso_start_url") {
            Some("single sign-on")
        } else if uses("login_session") {
            Some("a login")
        } else {
            None
        }
    }
}

/// The paths of the configuration file and the credentials file; `None` if neither a variable nor
/// the home folder determines the path.
fn files() -> [Option<PathBuf>; 2] {
    let file = |name: &str, default: &str| {
        let named = variable(name).map(PathBuf::from);
        named.or_else(|| Some(home()?.join(".aws").join(default)))
    };
    [file("AWS_CONFIG_FILE", "config"), file("AWS_SHARED_CREDENTIALS_FILE", "credentials")]
}

/// The user's home folder, which contains `.aws`; `None` if unknown.
fn home() -> Option<PathBuf> {
    std::env::home_dir().filter(|home| !home.as_os_str().is_empty())
}

/// The paths of the files, for messages; a placeholder if neither is known.
pub(super) fn files_text() -> String {
    let names: Vec<String> = files().into_iter().flatten().map(|file| file.display().to_string()).collect();
    if names.is_empty() { "~/.aws (HOME is not set)".to_owned() } else { names.join(" and ") }
}

fn text(file: Option<PathBuf>) -> anyhow::Result<Option<String>> {
    file.map_or(Ok(None), |file| text_of(&file))
}

/// The settings of a profile; `None` if the file has no section for it. In the configuration file,
/// section titles begin with `profile`, as in `[profile work]`; `[default]` is also accepted.
fn section(text: &str, name: &str, prefix: &str) -> Option<HashMap<String, String>> {
    let (mut found, mut is_here): (Option<HashMap<String, String>>, bool) = (None, false);
    for line in text.lines() {
        if let Some(title) = line.trim().strip_prefix('[').and_then(|line| line.split_once(']')).map(|(title, _)| title.trim()) {
            let own = title.strip_prefix(prefix).map(str::trim);
            is_here = own == Some(name) || (name == "default" && title == name);
            if is_here {
                found.get_or_insert_default();
            }
            continue;
        }
        // An indented line belongs to the setting above it, such as `s3 =`, which the gateway does
        // not use.
        let is_setting = is_here && !line.starts_with([' ', '\t', '#', ';']);
        let Some((key, value)) = line.split_once('=').filter(|_| is_setting) else { continue };
        let value = value.split(" #").next().unwrap_or_default().trim();
        if let Some(settings) = &mut found {
            settings.insert(key.trim().to_lowercase(), value.to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = "# mine\n[default]\nregion = eu-central-1 # near\ns3 =\n  region = us-east-1\n\n[profile work ]\nRegion=eu-west-1\n\
        credential_process = helper --for \"a b\"=c\n[sso-session work]\nregion = ap-south-1\n[profile]\nregion = x\n";

    #[test]
    fn a_profile_has_the_settings_of_its_section() {
        let default = section(CONFIG, "default", "profile ").unwrap();
        assert_eq!(default.get("region").map(String::as_str), Some("eu-central-1"));
        let work = section(CONFIG, "work", "profile ").unwrap();
        assert_eq!(work.get("region").map(String::as_str), Some("eu-west-1"));
        assert_eq!(work.get("credential_process").map(String::as_str), Some("helper --for \"a b\"=c"));
        assert!(section(CONFIG, "other", "profile ").is_none());
        assert!(section("[work]\nregion = x\n", "work", "profile ").is_none(), "only the credentials file has sections without the prefix");
        assert!(section("[work]\naws_access_key_id = x\n", "work", "").is_some());
        assert!(section("[broken\nregion = x\nnonsense", "broken", "").is_none());
    }
}
