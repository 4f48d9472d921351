//! The front end of the console, which shows and changes a project in a browser.
//!
//! `web/` contains ES modules and a stylesheet, which are served without a build step. `web/core`
//! contains modules that do not belong to a page, such as the API client and the router.
//! `web/components` contains parts that pages share, and `web/views` the pages and their tabs. All
//! texts are in `web/texts.js` and `web/texts-*.js`. The modules import each other by relative
//! URLs, so all of them are served below the same path, which contains a version.
//!
//! All data is read and changed through the API. The gateway adds the frame of the page and, for
//! callers with the page key, the keys of the gateway's first project. A deployment serves the same
//! files with the frame in `page.html`; see [`serve`].

pub mod serve;

use std::path::Path;
use std::sync::LazyLock;

use crypto::digest::Digest;
use site::look::{ICON, STYLE as LOOK};

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../web/", $name)))),*]
    };
}

/// Each file of `web/` with its content.
const FILES: &[(&str, &str)] = files![
    "components/chart.js",
    "components/dialog.js",
    "components/form.js",
    "components/list.js",
    "components/parts.js",
    "components/preview.js",
    "components/progress.js",
    "components/scope-rows.js",
    "components/shell.js",
    "components/team-picker.js",
    "console.css",
    "core/api.js",
    "core/dom.js",
    "core/format.js",
    "core/openapi.js",
    "core/passkeys.js",
    "core/router.js",
    "core/session.js",
    "core/settings.js",
    "core/values.js",
    "main.js",
    "routes.js",
    "texts-account.js",
    "texts-audit.js",
    "texts-developers.js",
    "texts-emails.js",
    "texts-grants.js",
    "texts-keys.js",
    "texts-oauth-clients.js",
    "texts-oauth-resources.js",
    "texts-overview.js",
    "texts-projects.js",
    "texts-providers.js",
    "texts-rules.js",
    "texts-settings.js",
    "texts-signing-keys.js",
    "texts.js",
    "views/account.js",
    "views/audit-log.js",
    "views/client-access.js",
    "views/client-common.js",
    "views/client-danger.js",
    "views/client-described.js",
    "views/client-settings.js",
    "views/client-setup.js",
    "views/client.js",
    "views/clients-create.js",
    "views/clients-described.js",
    "views/clients-list.js",
    "views/clients.js",
    "views/confirm-tool.js",
    "views/content.js",
    "views/email-source.js",
    "views/forgot-password.js",
    "views/home.js",
    "views/keys.js",
    "views/operation.js",
    "views/outbox-email.js",
    "views/outbox.js",
    "views/overview.js",
    "views/owned-keys.js",
    "views/password-reset.js",
    "views/permissions.js",
    "views/projects.js",
    "views/providers.js",
    "views/quick-start.js",
    "views/reference.js",
    "views/resource-common.js",
    "views/resource-danger.js",
    "views/resource-settings.js",
    "views/resource-setup.js",
    "views/resource.js",
    "views/resources.js",
    "views/rules.js",
    "views/settings.js",
    "views/sign-in.js",
    "views/signing-keys.js",
    "views/team.js",
    "views/teams.js",
    "views/templates.js",
    "views/user-activity.js",
    "views/user-danger.js",
    "views/user-grants.js",
    "views/user-sessions.js",
    "views/user-sign-in.js",
    "views/user-teams.js",
    "views/user.js",
    "views/users.js",
    "views/webhook.js",
    "views/webhooks.js",
];

/// The files that the page of a deployment loads in addition to `web/`. The gateway's own pages
/// load separate copies of them.
const FRAME: &[(&str, &str)] = &[
    ("icon.svg", ICON),
    ("page.js", include_str!("../../pages/page.js")),
    ("style.css", LOOK),
    ("theme.js", include_str!("../../pages/theme.js")),
];

/// The page as written by `infra render`, with file names in braces in place of URLs.
const PAGE: &str = include_str!("../page.html");

/// The base path of the files, followed by the version and the file name.
pub const BASE: &str = "/console/assets";
/// The module that a page loads first.
pub const ENTRY: &str = "main.js";
/// The console's stylesheet, loaded after the stylesheet that all pages share.
pub const STYLE: &str = "console.css";

/// The first characters of the digest of all files.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let all: String = FILES.iter().chain(FRAME).flat_map(|(name, content)| [*name, "\0", *content, "\0"]).collect();
    Digest::of(&all).as_str().chars().take(12).collect()
});

/// A file of the front end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asset {
    pub media_type: &'static str,
    pub content: &'static str,
}

impl Asset {
    /// The file with this name, such as `core/api.js`; `None` if it does not exist.
    pub fn find(name: &str) -> Option<Self> {
        let (name, content) = FILES.iter().chain(FRAME).find(|(known, _)| *known == name)?;
        let media_type = match Path::new(name).extension()?.to_str()? {
            "css" => "text/css; charset=utf-8",
            "svg" => "image/svg+xml",
            _ => "text/javascript; charset=utf-8",
        };
        Some(Self { media_type, content })
    }
}

/// The version of all files together, which changes when any file changes.
pub fn version() -> &'static str {
    &VERSION
}

/// The URL of a file. The URL contains the version, so browsers may cache the file forever.
pub fn url(name: &str) -> String {
    format!("{BASE}/{}/{name}", version())
}

/// The page of a deployment.
fn page() -> &'static str {
    static SHOWN: LazyLock<String> = LazyLock::new(|| {
        let names = FRAME.iter().map(|(name, _)| *name).chain([ENTRY, STYLE]);
        names.fold(PAGE.to_owned(), |page, name| page.replace(&placeholder(name), &url(name)))
    });
    &SHOWN
}

/// The placeholder in `page.html` for the URL of a file.
pub fn placeholder(name: &str) -> String {
    format!("{{{name}}}")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn collect(folder: &Path, found: &mut BTreeSet<String>) {
        let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("web");
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, found);
            } else {
                found.insert(path.strip_prefix(&web).unwrap().to_string_lossy().into_owned());
            }
        }
    }

    #[test]
    fn every_file_of_the_front_end_is_embedded() {
        let mut found = BTreeSet::new();
        collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("web"), &mut found);
        assert_eq!(FILES.iter().map(|(name, _)| (*name).to_owned()).collect::<BTreeSet<_>>(), found);
    }

    #[test]
    fn files_have_urls_with_the_version_of_the_whole() {
        for name in [ENTRY, STYLE] {
            assert!(Asset::find(name).is_some(), "{name}");
            assert_eq!(url(name), format!("/console/assets/{}/{name}", version()));
        }
        let types = ["texts.js", STYLE].map(|name| Asset::find(name).unwrap().media_type);
        assert_eq!(types, ["text/javascript; charset=utf-8", "text/css; charset=utf-8"]);
        assert_eq!(Asset::find("../src/lib.rs"), None);
    }

    #[test]
    fn the_page_of_a_deployment_loads_only_files_of_this_version() {
        let urls: Vec<_> = page().split('"').filter(|part| part.contains("/assets/")).collect();
        assert_eq!(urls.len(), FRAME.len() + 2, "{urls:?}");
        for found in urls {
            let name = found.strip_prefix(&url("")).unwrap();
            assert!(Asset::find(name).is_some(), "{name}");
        }
    }

    #[test]
    fn no_file_turns_text_into_markup_or_code_or_loads_anything_from_elsewhere() {
        let forbidden =
            ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "srcdoc", "url(http", "@import"];
        for (name, content) in FILES {
            let found: Vec<_> = forbidden.iter().filter(|word| content.contains(**word)).collect();
            assert!(found.is_empty(), "{name} contains {found:?}");
        }
    }
}
