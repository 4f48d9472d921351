//! Accounts at providers, with which the user can also sign in.

use auth_functions::oauth_provider_delete;
use minijinja::{Value, context};
use model::project::OAuthProvider;
use model::provider::account::ProviderAccount;

use crate::account::list::list;
use crate::account::outcome::{Action, Outcome};
use crate::pages::{provider, ways};
use crate::visit::Visit;
use crate::visit::call::Call;

/// `None` if the project has no providers and the user has no account at a provider.
pub(super) fn shown(visit: &Visit) -> Option<Value> {
    let accounts = &visit.visitor.as_ref()?.user.provider_accounts;
    let providers = &visit.project.config.oauth_providers;
    let is_linked = |id: &str| accounts.iter().any(|account| account.provider_id == id);
    let others = providers.iter().filter(|provider| !is_linked(&provider.id));
    let row = |account: &ProviderAccount| {
        context! {
            id => account.id.to_string(),
            name => ways::provider_name(&account.provider_id),
            email => account.email.as_ref().map(ToString::to_string),
            signs_in => account.allow_sign_in,
        }
    };
    let other = |provider: &OAuthProvider| context! { id => provider.id.as_str(), name => ways::provider_name(&provider.id) };
    (!accounts.is_empty() || !providers.is_empty()).then(|| {
        context! {
            list => list(accounts, row),
            others => others.map(other).collect::<Vec<_>>(),
        }
    })
}

pub(super) async fn submit(visit: &Visit, action: &Action) -> Outcome {
    match action.verb.as_str() {
        "unlink" => {
            let call = Call::new().at("me").at(&action.id);
            let reply = visit.call(oauth_provider_delete::ROUTE, oauth_provider_delete::handle, call).await;
            Outcome::of(reply, "providers_unlinked")
        }
        "link" => match provider::link(visit, &action.id).await {
            Ok(answer) => Outcome::Answer(answer),
            Err(reply) => Outcome::Refusal(*reply),
        },
        _ => Outcome::Nothing,
    }
}
