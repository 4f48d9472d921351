//! Providers of a project. Tests OpenID issuers, their metadata and their keys, when an
//! administrator saves them. The administrator thus notices a mistake immediately, instead of when
//! the first user signs in.
//!
//! Providers of the catalog are not tested, because their endpoints are known, and a client id and
//! secret cannot be tested without a user.

use std::collections::BTreeMap;

use errors::KnownError;
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use model::project::{OAuthProvider, ProjectConfig};
use model::provider::catalog;
use model::text::line;
use net::outgoing::{AnswerError, Outgoing};
use oauth::metadata;
use settings::Settings;
use wire::id::ProjectId;

use crate::app::App;

/// The maximum number of issuers tested at a time. An issuer's documents may be up to 256 KB.
const MAX_TESTS: usize = 4;

/// Tests the issuers of new and changed providers, each issuer once, and stops at the first
/// failure. Without these restrictions, anyone who may create a project could turn one request into
/// a hundred requests to a third party. Unchanged providers need not be available. The tests'
/// requests count for `project`. When a project is created, `project` must be the existing project
/// through which it is created, because anyone can create many projects.
pub async fn test_changed(app: &App, project: &ProjectId, before: &ProjectConfig, after: &ProjectConfig) -> Result<(), KnownError> {
    // A provider that users could not sign in with was not tested when it was saved.
    let changed =
        after.oauth_providers.iter().filter(|provider| !before.oauth_providers.contains(provider) && catalog::find(&provider.id).is_none());
    let issuers: BTreeMap<&str, &OAuthProvider> = changed.filter_map(|provider| Some((provider.issuer.as_deref()?, provider))).collect();
    let outgoing = Outgoing::for_metadata(&app.settings, project);
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

/// The redirect URI registered at a provider, which sends users back there.
pub fn redirect_uri(settings: &Settings, provider_id: &str) -> String {
    format!("{}/api/v1/auth/oauth/callback/{provider_id}", settings.api_url)
}

/// The reason shown to an administrator. The reason does not distinguish a host that is not public
/// from one that does not respond, to avoid revealing the deployment's own network.
fn reason(issuer: &str, fault: &AnswerError) -> String {
    let text = match fault {
        AnswerError::Private(_) | AnswerError::Unavailable(_) => {
            format!("{issuer} and its keys cannot be read: it did not answer in time, or has no public HTTPS address")
        }
        AnswerError::Misconfigured(text) => text.clone(),
        fault => fault.to_string(),
    };
    line::to_line(&text, MAX_REASON)
}

/// The maximum length of a reason, in characters: it may quote the issuer.
const MAX_REASON: usize = 400;
