//! `gateway help environment`: lists the variables that operators can set. Most of the variables
//! are defined in the table of [`settings`]. Every command warns about variables that look
//! misspelt.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use model::limit::Rule;

/// Variables of the gateway and its command line, in the format of [`settings::TABLE`]. Functions
/// read only `GATELET_CONSOLE`.
const OWN: &str = "
| `GATELET_DATA` | the gateway's data folder, like `--data` | `.gatelet` |
| `GATELET_PROJECT_ID`, `GATELET_PUBLISHABLE_CLIENT_KEY`, `GATELET_SECRET_SERVER_KEY`, `GATELET_SUPER_SECRET_ADMIN_KEY` | fix the first project's id and keys | generated at the first start |
| `GATELET_INTERNAL_CLIENT_KEY`, `GATELET_INTERNAL_SERVER_KEY`, `GATELET_INTERNAL_ADMIN_KEY` | fix the keys of the project `internal` | generated at the first start |
| `GATELET_PAGE_KEY` | fixes the key that opens the console, the inbox and the outbox | generated at the first start |
| `GATELET_REMOTE_PAGES` | `1` also shows the console, the inbox and the outbox to connections from other addresses, like `--remote-pages` | none |
| `GATELET_TRUSTED_PROXIES` | networks of proxies that send the client's address in `X-Forwarded-For`, separated by commas, like `--trusted-proxy` | none |
| `GATELET_DYNAMODB_ACCESS_KEY_ID`, `GATELET_DYNAMODB_SECRET_ACCESS_KEY` | fix the credentials of `--dynamodb-port` | generated at the first start |
| `GATELET_LOG` | what to log: `off`, `error`, `warn`, `info`, `debug`, `trace`, or levels for individual modules, such as `warn,gateway=debug` | `warn,dynoxide=error` |
| `GATELET_HEALTH_URL` | the gateway that `gateway health` checks | `http://127.0.0.1:8787` |
| `AWS_PROFILE`, `AWS_CONFIG_FILE`, `AWS_SHARED_CREDENTIALS_FILE` | the profile and the files of the AWS configuration, for commands with `--table` | `default`, in `~/.aws` |
";

/// Variables that only the gateway itself, its tests and the script that runs the tests set.
const INTERNAL: [&str; 5] = ["GATELET_RENDERER", "GATELET_STOP_AT", "GATELET_TIMEOUTS", "GATELET_LOGIN_MILLIS", "GATELET_CI_CACHE"];
/// Variables of apps and scripts, used in the guides and in the commands that the console shows.
const OF_APPS: [&str; 5] =
    ["GATELET_URL", "GATELET_TEST_URL", "GATELET_ACCESS_TOKEN", "GATELET_REFRESH_TOKEN", "GATELET_ADMIN_ACCESS_TOKEN"];
const PREFIX: &str = "GATELET_";

/// The maximum width of the list, in columns.
const WIDTH: usize = 100;
const INDENT: &str = "          ";

/// A row of the table: the names, the meaning and the default of variables.
struct Row<'a> {
    names: Vec<&'a str>,
    meaning: &'a str,
    default: &'a str,
}

fn rows(table: &str) -> impl Iterator<Item = Row<'_>> {
    let rows = table.lines().filter(|line| line.starts_with("| `"));
    rows.filter_map(|line| {
        let mut cells = line.trim_matches('|').split(" | ").map(str::trim);
        let (names, meaning, default) = (cells.next()?, cells.next()?, cells.next()?);
        let names = names.split(", ").map(|name| name.trim_matches('`')).collect();
        Some(Row { names, meaning, default })
    })
}

/// The list of variables, for the help text.
pub(super) fn text() -> String {
    let mut text = "Environment variables (an empty value counts as unset):\n".to_owned();
    for row in rows(OWN).chain(rows(settings::TABLE)) {
        for name in &row.names {
            let _ = write!(text, "\n  {name}");
        }
        text.push('\n');
        wrap(&mut text, &format!("{} [default: {}]", row.meaning, row.default).replace('`', ""));
    }
    text
}

/// Warns on standard error of environment variables that are probably misspelt. Such variables are
/// not an error: a shell or container may set variables of a later version, or of an app with the
/// same prefix.
pub(super) fn warn_of_unknown() {
    for warning in unknown(std::env::vars_os().filter_map(|(name, _)| name.into_string().ok())) {
        eprintln!("warning: {warning}");
    }
}

/// A warning for each unknown name that begins with `GATELET_` or is similar to a known name. Only
/// names that almost begin with `GATELET_` are compared, because comparing every variable of a
/// shell would take a quarter of the gateway's startup time.
fn unknown(names: impl Iterator<Item = String>) -> Vec<String> {
    let known = known();
    let warning = |name: String| {
        let nearest = known.iter().map(|known| (strsim::damerau_levenshtein(known, &name), known)).min();
        // Up to two letters may differ, or more in a long name.
        let alike = nearest.filter(|(distance, known)| *distance <= 2.max((known.len() - PREFIX.len()) / 4)).map(|(_, known)| known);
        if known.contains(&name) || OF_APPS.contains(&name.as_str()) || (alike.is_none() && !name.starts_with(PREFIX)) {
            return None;
        }
        let advice = alike.map_or_else(
            || "run `gateway help environment` to list all known variables".to_owned(),
            |known| format!("did you mean {known}?"),
        );
        Some(format!("the variable {} has no effect: {advice}", name.escape_debug()))
    };
    let mut warnings: Vec<String> = names.filter(|name| begins_alike(name)).filter_map(warning).collect();
    warnings.sort();
    warnings
}

/// Whether a name almost begins with [`PREFIX`]: up to two letters may be wrong, missing or
/// swapped. A missing letter counts as two, because the letters after it are shifted.
fn begins_alike(name: &str) -> bool {
    let beginning: String = name.chars().take(PREFIX.len()).collect();
    strsim::damerau_levenshtein(&beginning, PREFIX) <= 4
}

/// The names of all variables `GATELET_…` that the gateway or a function reads.
fn known() -> BTreeSet<String> {
    let listed = rows(OWN).chain(rows(settings::TABLE)).flat_map(|row| row.names).chain(INTERNAL).map(str::to_owned);
    let limits = Rule::ALL.into_iter().map(Rule::variable);
    listed.filter(|name| name.starts_with(PREFIX) && is_whole(name)).chain(limits).collect()
}

/// Whether this is the name of a single variable, unlike `GATELET_LIMIT_…`.
fn is_whole(name: &str) -> bool {
    !name.ends_with('_') && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
}

fn wrap(text: &mut String, words: &str) {
    let mut width = WIDTH;
    for word in words.split_whitespace() {
        if width + 1 + word.len() > WIDTH {
            let _ = write!(text, "{}{INDENT}{word}", if text.ends_with('\n') { "" } else { "\n" });
            width = INDENT.len() + word.len();
        } else {
            let _ = write!(text, " {word}");
            width += 1 + word.len();
        }
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// The documented names. A trailing `_` means that the name is a prefix.
    fn documented() -> BTreeSet<String> {
        rows(OWN).chain(rows(settings::TABLE)).flat_map(|row| row.names).map(str::to_owned).collect()
    }

    /// Collects quoted variable names from the Rust files of a folder.
    fn named_in(folder: &Path, found: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                named_in(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                let quoted = text.split('"').filter(|part| part.starts_with("GATELET_") || part.starts_with("AWS_"));
                found.extend(quoted.filter(|name| is_whole(name)).map(str::to_owned));
            }
        }
    }

    #[test]
    fn every_variable_that_the_sources_read_is_listed_and_documented() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut read = BTreeSet::new();
        for folder in ["shared", "infra/gateway/src", "functions"] {
            named_in(&root.join(folder), &mut read);
        }
        assert!(read.contains("GATELET_API_URL") && read.contains("GATELET_LOG"), "{read:?}");
        let (documented, page) = (documented(), std::fs::read_to_string(root.join("docs/gateway.md")).unwrap());
        let of_rules = |name: &str| name.starts_with("GATELET_LIMIT_");
        // Three kinds of variables are not documented: those of single rate limits, internal ones,
        // and those that do not begin with `GATELET_`, some of which a container's runtime sets.
        let undocumented = INTERNAL.iter().chain(&OF_APPS).collect::<Vec<_>>();
        for name in read.iter().filter(|name| !of_rules(name) && !undocumented.contains(&&name.as_str()) && name.starts_with(PREFIX)) {
            assert!(documented.contains(name), "{name} is not in the table of shared/settings");
        }
        let of_functions = [
            "GATELET_TABLE",
            "GATELET_STAGE",
            "GATELET_ORIGIN_SECRET",
            "GATELET_ALLOWS_DIRECT",
            "GATELET_ALLOWED_METHODS",
            "GATELET_SES_CONFIGURATION_SET",
            "GATELET_WEBHOOKS_FUNCTION",
            "GATELET_OUTBOX_FUNCTION",
        ];
        for name in documented.iter().filter(|name| name.starts_with("GATELET_") && !of_functions.contains(&name.as_str())) {
            assert!(page.contains(name.as_str()), "{name} is not in docs/gateway.md");
        }
    }

    #[test]
    fn every_variable_that_the_sources_read_is_known() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut read = BTreeSet::new();
        for folder in ["shared", "infra/gateway/src", "functions"] {
            named_in(&root.join(folder), &mut read);
        }
        let read = read.into_iter().filter(|name| name.starts_with(PREFIX));
        assert_eq!(unknown(read), [""; 0]);
        let documented = documented().into_iter().filter(|name| name.starts_with(PREFIX) && is_whole(name));
        assert_eq!(unknown(documented), [""; 0]);
    }

    /// Collects variable names from the text files of a folder.
    fn mentioned_in(folder: &Path, found: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                mentioned_in(&path, found);
            } else if let Ok(text) = std::fs::read_to_string(&path) {
                let words = text.split(|letter: char| !letter.is_ascii_uppercase() && letter != '_');
                found.extend(words.filter(|word| word.starts_with(PREFIX) && is_whole(word)).map(str::to_owned));
            }
        }
    }

    #[test]
    fn the_variables_that_guides_and_the_console_tell_to_set_cause_no_warning() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut mentioned = BTreeSet::new();
        for folder in ["docs", "examples/server", "infra/console/web"] {
            mentioned_in(&root.join(folder), &mut mentioned);
        }
        assert!(OF_APPS.iter().all(|name| mentioned.contains(*name)), "{mentioned:?}");
        assert_eq!(unknown(mentioned.into_iter()), [""; 0]);
    }

    #[test]
    fn an_unknown_variable_is_named_with_the_nearest_known_one() {
        let said = |name: &str| unknown([name.to_owned()].into_iter()).concat();
        for (name, nearest) in [("SECERT", "SECRET"), ("LIMIT_SIGNIN", "LIMIT_SIGN_IN"), ("SENDERS_DOMAIN", "SENDER_DOMAINS")] {
            let (name, said) = (format!("{PREFIX}{name}"), said(&format!("{PREFIX}{name}")));
            assert!(said.contains(&name) && said.ends_with(&format!("did you mean {PREFIX}{nearest}?")), "{said}");
        }
        for name in ["GATLET_SECRET", "GTLET_SECRET", "GATELETSECRET"] {
            assert!(said(name).ends_with("did you mean GATELET_SECRET?"), "{name}");
        }
        assert!(said(&format!("{PREFIX}PORT")).contains("gateway help environment"));
        for name in ["GATELET_SECRET", "GATELET_LIMIT_SIGN_IN", "AWS_PROFILE", "AWS_REGION", "PATH", "SECRET"] {
            assert_eq!(said(name), "", "{name}");
        }
    }

    #[test]
    fn the_listing_shows_each_variable_and_its_meaning_in_wrapped_lines() {
        let text = text();
        assert!(text.contains("\n  GATELET_SENDER\n") && text.contains("\n  AWS_PROFILE\n"), "{text}");
        assert!(text.lines().all(|line| line.len() <= WIDTH + 1), "{text}");
        assert!(!text.contains('`'), "{text}");
    }
}
