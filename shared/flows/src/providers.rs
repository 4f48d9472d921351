//! Providers of a project. Tests OpenID issuers when an administrator saves them: their metadata
//! and their keys. What is wrong is then an error for the administrator, and not one for the first
//! user who signs in.
//!
//! Providers of the catalog are not tested, because their endpoints are known, and no request could
//! tell whether client id and secret are right without a user.

use std::collections::BTreeMap;

use errors::KnownError;
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use model::project::{OAuthProvider, ProjectConfig};
use model::provider::catalog;
use model::text::line;
use net::outgoing::{Fault, Outgoing};
use oauth::metadata;
use settings::Settings;

use crate::app::App;

/// How many issuers are tested at once. What an issuer publishes may have 256 KB.
const MAX_TESTS: usize = 4;

/// Tests the issuers of providers that a change adds or alters; each issuer once, and none after
/// the first that fails: whoever may create a project could otherwise have this service send a
/// hundred requests to somebody else with each of theirs. Providers that stay as they are need not
/// be available.
pub async fn test_changed(app: &App, before: &ProjectConfig, after: &ProjectConfig) -> Result<(), KnownError> {
    // A provider that users could not sign in with has not been tested.
    let changed =
        after.oauth_providers.iter().filter(|provider| !before.oauth_providers.contains(provider) && catalog::find(&provider.id).is_none());
    let issuers: BTreeMap<&str, &OAuthProvider> = changed.filter_map(|provider| Some((provider.issuer.as_deref()?, provider))).collect();
    let outgoing = Outgoing::for_metadata(&app.settings);
    let tests: Vec<_> = issuers.into_iter().map(|(issuer, provider)| test(app, outgoing, issuer, &provider.id)).collect();
    stream::iter(tests).buffered(MAX_TESTS).try_collect().await
}

async fn test(app: &App, outgoing: Outgoing<'_>, issuer: &str, provider_id: &str) -> Result<(), KnownError> {
    match metadata::examine(outgoing, issuer, app.clock.now()).await {
        Ok(_) => Ok(()),
        Err(fault) => {
            tracing::info!(%fault, provider = provider_id, "the issuer of a provider was not accepted");
            Err(KnownError::OauthProviderMisconfigured { provider_id: provider_id.to_owned(), reason: reason(issuer, &fault) })
        }
    }
}

/// The redirect URI to which a provider sends users back, and which is registered there.
pub fn redirect_uri(settings: &Settings, provider_id: &str) -> String {
    format!("{}/api/v1/auth/oauth/callback/{provider_id}", settings.api_url)
}

/// What an administrator is told. A host that is not public and one that does not answer are not
/// told apart, so that nobody learns about the deployment's own network.
fn reason(issuer: &str, fault: &Fault) -> String {
    let text = match fault {
        Fault::Private(_) | Fault::Unavailable(_) => {
            format!("{issuer} and its keys cannot be read: it did not answer in time, or has no public HTTPS address")
        }
        Fault::Misconfigured(text) => text.clone(),
        fault => fault.to_string(),
    };
    line::to_line(&text, MAX_REASON)
}

/// The longest reason, in characters: it may quote the issuer.
const MAX_REASON: usize = 400;
