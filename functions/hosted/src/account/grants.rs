//! The OAuth clients to which the user has given access (grants).

use std::collections::BTreeSet;

use minijinja::{Value, context};
use model::openid::resource::{MAX_RESOURCES, OauthResource};
use model::session::resource_scopes::ResourceIdentifier;
use openid_functions::{grant_delete, grant_list};
use serde_json::Value as Json;

use crate::account::list::{items, list, text};
use crate::account::outcome::{Action, Outcome};
use crate::account::times::day;
use crate::visit::Visit;
use crate::visit::call::Call;

/// `None` if there are no grants.
pub(super) async fn shown(visit: &Visit) -> Option<Value> {
    let reply = visit.call(grant_list::ROUTE, grant_list::handle, Call::new().at("me")).await;
    let grants = items(&reply);
    let known = resources_of(visit, grants).await;
    let row = |grant: &Json| {
        let scopes = texts(&grant["scopes"]).map(|scope| visit.text(&format!("authorize.scopes.{scope}")));
        context! {
            id => text(grant, "id"),
            name => text(grant, "client_name"),
            since => day(&grant["created_at_millis"]),
            scopes => scopes.filter(|text| !text.is_empty()).collect::<Vec<_>>(),
            resources => elements(&grant["resources"]).map(|granted| resource(granted, &known)).collect::<Vec<_>>(),
        }
    };
    (!grants.is_empty()).then(|| context! { list => list(grants, row) })
}

fn elements(value: &Json) -> impl Iterator<Item = &Json> {
    value.as_array().into_iter().flatten()
}

fn texts(value: &Json) -> impl Iterator<Item = &str> {
    elements(value).filter_map(Json::as_str)
}

/// The project's resources that these grants name, for their names and descriptions. Empty if they
/// cannot be read.
async fn resources_of(visit: &Visit, grants: &[Json]) -> Vec<OauthResource> {
    let granted = grants.iter().flat_map(|grant| elements(&grant["resources"]));
    let identifiers = granted.filter_map(|granted| ResourceIdentifier::parse(text(granted, "resource")).ok());
    let identifiers: BTreeSet<ResourceIdentifier> = identifiers.collect();
    visit.app.store.named_resources(&visit.project.id, identifiers.iter().take(MAX_RESOURCES)).await.unwrap_or_default()
}

/// A resource of a grant, with a description of each scope. Resources and scopes that the project
/// has deleted have only the names in the grant.
fn resource(granted: &Json, known: &[OauthResource]) -> Value {
    let identifier = text(granted, "resource");
    let resource = known.iter().find(|resource| resource.identifier.as_str() == identifier);
    let scope = |name: &str| {
        let defined = resource.into_iter().flat_map(|resource| &resource.scopes).find(|scope| scope.name == name);
        defined.map_or(name, |scope| &scope.description).to_owned()
    };
    context! {
        name => resource.map_or(identifier, |resource| &resource.name),
        identifier => resource.map(|resource| resource.identifier.as_str()),
        scopes => texts(&granted["scopes"]).map(scope).collect::<Vec<_>>(),
    }
}

pub(super) async fn submit(visit: &Visit, action: &Action) -> Outcome {
    match action.verb.as_str() {
        "remove" => {
            let call = Call::new().at("me").at(&action.id);
            Outcome::of(visit.call(grant_delete::ROUTE, grant_delete::handle, call).await, "grants_removed")
        }
        _ => Outcome::Nothing,
    }
}
