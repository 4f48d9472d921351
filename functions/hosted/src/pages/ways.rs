//! The ways to sign in that a project has enabled, and the challenge that a form may require.

use api::product::access::NO_KEY;
use minijinja::{Value, context};
use model::bot_challenge::{ChallengeProvider, GuardedOperation, Policy};
use serde_json::{Value as Json, json};

use crate::visit::Visit;
use crate::visit::call::Reply;
use crate::visit::cookies::Cookie;

/// The names of providers for which capitalizing the id is not enough.
const NAMES: [(&str, &str); 6] =
    [("github", "GitHub"), ("gitlab", "GitLab"), ("linkedin", "LinkedIn"), ("x", "X"), ("bitbucket", "Bitbucket"), ("paypal", "PayPal")];

/// The display name of a provider.
pub(crate) fn provider_name(id: &str) -> String {
    if let Some((_, name)) = NAMES.iter().find(|(known, _)| *known == id) {
        return (*name).to_owned();
    }
    let words = id.split(['-', '_']).map(|word| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>()).unwrap_or_default()
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The ways to sign in, for a template.
pub(crate) fn ways(visit: &Visit) -> Value {
    let config = &visit.project.config;
    let last = visit.cookies.get(Cookie::Way);
    let providers: Vec<Value> = config
        .oauth_providers
        .iter()
        .map(|provider| {
            let href = visit.place.path("oauth-start", &visit.way_back().with("provider", &provider.id));
            let is_last = last.and_then(|last| last.strip_prefix("provider-")) == Some(provider.id.as_str());
            context! { name => provider_name(&provider.id), href => href, is_last => is_last }
        })
        .collect();
    let (password, code, passkey) = (config.credential_enabled, config.magic_link_enabled, config.passkeys.enabled);
    context! {
        any => password || code || passkey || !providers.is_empty(),
        email => password || code,
        creates => password || code || !providers.is_empty(),
        password => password,
        code => code,
        passkey => passkey,
        sign_up => config.sign_up_enabled,
        providers => providers,
    }
}

/// The challenge to show in a form, if the project always requires one or the operation has just
/// required one.
pub(crate) fn challenge(visit: &Visit, operation: GuardedOperation, reply: Option<&Reply>) -> Option<Value> {
    let settings = &visit.project.config.bot_challenge;
    let is_required = reply.and_then(Reply::error).is_some_and(|error| matches!(error, "BOT_CHALLENGE_REQUIRED" | "BOT_CHALLENGE_FAILED"));
    let is_always = settings.policy(operation) == Policy::Always;
    let (provider, key) = match settings.provider {
        _ if !is_required && !is_always => return None,
        ChallengeProvider::Off => return None,
        ChallengeProvider::Altcha => ("altcha", String::new()),
        ChallengeProvider::Turnstile => ("turnstile", settings.turnstile.as_ref().map(|keys| keys.site_key.clone())?),
    };
    let url = format!("/api/v1/auth/challenge?project_id={}", visit.project.id);
    Some(context! { provider => provider, key => key, url => url })
}

/// Adds the solution of the form's challenge to a request body.
pub(crate) fn with_solution(visit: &Visit, mut body: Json) -> Json {
    if let Some(token) = visit.form.get("bot_challenge_token") {
        body["bot_challenge_token"] = json!(token);
        body["bot_challenge_phase"] = json!("visible");
    }
    body
}

/// The value that clients without a client key send as the secret.
pub(crate) const CLIENT_SECRET: &str = NO_KEY;
