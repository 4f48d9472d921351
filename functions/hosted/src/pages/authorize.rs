//! `authorize`: signs the visitor in to a client of the project (OpenID Connect Core §3.1.2). The
//! authorization endpoint checks the client's request and sends the browser to this page. On this
//! page, the query names the stored request instead of repeating its parameters.
//!
//! The operation `authorization_complete` decides which step comes next. The page shows the client
//! and the site to which the visitor will return, because anyone may have sent the link.

use minijinja::{Value, context};
use openid_functions::{authorization_begin, authorization_complete};
use serde_json::{Value as Json, json};

use crate::answer::Answer;
use crate::pages::notice::Notice;
use crate::render::origin;
use crate::visit::Visit;
use crate::visit::authorization::AUTHORIZE;
use crate::visit::call::{Call, Reply};
use crate::visit::fields::Fields;

/// The query parameter that names the stored request.
const REQUEST: &str = "request";
/// The query parameter that is set if a form led to this page.
const ONWARD: &str = "onward";
/// The query parameter that hides the current account.
pub(crate) const ANOTHER: &str = "another_account";

/// The authorization endpoint, which checks the request of a client.
pub(crate) async fn begin(visit: &Visit, parameters: String) -> Answer {
    let call = Call::with(json!({ "parameters": parameters })).anonymous();
    let reply = visit.call(authorization_begin::ROUTE, authorization_begin::handle, call).await;
    match (reply.error(), reply.body[REQUEST].as_str()) {
        (None, Some(name)) => {
            let pages = &visit.app.settings.own_pages;
            let mut url = pages.page(&visit.project.id, AUTHORIZE);
            url.query_pairs_mut().append_pair(REQUEST, name);
            if let Some(locales) = reply.body["ui_locales"].as_str() {
                url.query_pairs_mut().append_pair("ui_locales", locales);
            }
            Answer::redirect(url.as_str())
        }
        (None, None) => go(visit, &reply.body["redirection"]),
        (Some("AUTHORIZATION_REQUEST_INVALID"), _) => invalid(visit, &reply),
        (Some(_), _) => visit.refusal(&reply),
    }
}

/// The page that explains why a client's request is invalid.
pub(super) fn invalid(visit: &Visit, reply: &Reply) -> Answer {
    let about = visit.fill("authorize.invalid_details", &[("reason", reply.detail("reason"))]);
    let notice = Notice::new(visit, visit.text("authorize.invalid_title")).text(visit.text("authorize.invalid")).text(about);
    notice.answer().with_status(reply.status)
}

pub(super) async fn show(visit: &mut Visit) -> Answer {
    step(visit, json!({})).await
}

pub(super) async fn submit(visit: &mut Visit) -> Answer {
    let is_account_chosen = visit.form.get("account").is_some();
    match visit.form.text("action") {
        "allow" => step(visit, json!({ "consent": "allow", "is_account_chosen": is_account_chosen })).await,
        "deny" => step(visit, json!({ "consent": "deny" })).await,
        "continue" => step(visit, json!({ "is_account_chosen": true })).await,
        _ => step(visit, json!({})).await,
    }
}

/// Continues the request after the visitor's decision.
async fn step(visit: &mut Visit, mut body: Json) -> Answer {
    let is_account_chosen = body["is_account_chosen"] == true;
    body[REQUEST] = json!(visit.query.text(REQUEST));
    let reply = visit.call(authorization_complete::ROUTE, authorization_complete::handle, Call::with(body).with_token()).await;
    if reply.error() == Some("AUTHORIZATION_REQUEST_EXPIRED") {
        return expired(visit).with_status(reply.status);
    }
    if reply.error() == Some("AUTHORIZATION_REQUEST_INVALID") {
        return invalid(visit, &reply);
    }
    if reply.error().is_some() {
        return visit.refusal(&reply);
    }
    match reply.text("step") {
        "sign_in" => Answer::redirect(&to_page(visit, "sign-in", &reply, false)),
        "sign_in_again" => Answer::redirect(&to_page(visit, "sign-in", &reply, true)),
        "sign_up" => Answer::redirect(&to_page(visit, "sign-up", &reply, false)),
        "onboarding" => Answer::redirect(&to_page(visit, "onboarding", &reply, false)),
        "choose_account" => choose(visit, &reply),
        "consent" => consent(visit, &reply, is_account_chosen),
        _ => go(visit, &reply.body["redirection"]),
    }
}

fn expired(visit: &Visit) -> Answer {
    Notice::new(visit, visit.text("authorize.expired_title")).text(visit.text("authorize.expired")).answer()
}

/// The URL of a page from which the visitor later returns to this page.
fn to_page(visit: &Visit, page: &str, reply: &Reply, is_another: bool) -> String {
    let here = visit.place.path(AUTHORIZE, &visit.query.only(&[REQUEST]));
    let query = Fields::default().with("after_auth_return_to", &here);
    let given = |query: Fields, name: &str, value: &str| if value.is_empty() { query } else { query.with(name, value) };
    let query = given(query, "login_hint", reply.text("login_hint"));
    let locales = visit.query.get("ui_locales").unwrap_or_else(|| reply.text("ui_locales")).to_owned();
    let query = given(query, "ui_locales", &locales);
    visit.place.url(page, &given(query, ANOTHER, if is_another { "1" } else { "" }))
}

/// The URL of a page, with a mark that a form leads to the page. Browsers apply the policy
/// `form-action` to every redirect that follows a form, and the policy does not contain the
/// client's URL.
pub(crate) fn after_form(url: &str) -> String {
    format!("{url}{}{ONWARD}=1", if url.contains('?') { '&' } else { '?' })
}

/// Sends the visitor to the client.
fn go(visit: &Visit, redirection: &Json) -> Answer {
    let url = redirection["url"].as_str().unwrap_or_default();
    let Some(fields) = redirection["form_fields"].as_array() else {
        if visit.query.get(ONWARD).is_none() {
            return Answer::redirect(url);
        }
        return onward(visit, url);
    };
    let pairs = fields.iter().filter_map(|pair| Some(context! { name => pair[0].as_str()?, value => pair[1].as_str()? }));
    let values = context! { href => url, fields => pairs.collect::<Vec<_>>() };
    visit.document("to_client", values).leads_to(target(url)).answer()
}

/// Sends the visitor to a client through a document, which starts a new navigation.
pub(super) fn onward(visit: &Visit, url: &str) -> Answer {
    visit.document("to_client", context! { href => url, fields => Vec::<Value>::new() }).answer()
}

/// A source for `form-action` in the content security policy: the origin of a URL, or the scheme of
/// a native app.
fn target(url: &str) -> Option<String> {
    let scheme = || url.split_once(':').map(|(scheme, _)| format!("{scheme}:"));
    origin(url).or_else(|| scheme().filter(|scheme| scheme.contains('.')))
}

fn choose(visit: &Visit, reply: &Reply) -> Answer {
    let client = &reply.body["client"];
    let values = context! {
        client => text(client, "name"),
        visitor => visit.visitor_shown(),
        action => visit.place.path(AUTHORIZE, &visit.query.only(&[REQUEST, "ui_locales"])),
        another => to_page(visit, "sign-in", reply, true),
        problem => visit.problem.clone(),
    };
    visit.document("choose_account", values).leads_to(target_of(reply)).answer()
}

fn consent(visit: &Visit, reply: &Reply, is_account_chosen: bool) -> Answer {
    let client = &reply.body["client"];
    let scopes = reply.body["scopes"].as_array().into_iter().flatten().filter_map(Json::as_str);
    let logo = client["logo_url"].as_str();
    let values = context! {
        client => context! {
            name => text(client, "name"),
            logo => logo,
            page => text(client, "client_uri"),
            policy => text(client, "policy_uri"),
            terms => text(client, "tos_uri"),
            host => text(client, "document_host"),
            is_self_registered => client["is_self_registered"] == true,
        },
        returns_to => reply.text("returns_to"),
        proves_client => reply.body["proves_client"] == true,
        is_own => client["is_first_party"] == true,
        scopes => scopes.map(|scope| visit.text(&format!("authorize.scopes.{scope}"))).filter(|text| !text.is_empty()).collect::<Vec<_>>(),
        resources => reply.body["resources"].as_array().into_iter().flatten().map(resource).collect::<Vec<_>>(),
        visitor => visit.visitor_shown(),
        is_account_chosen => is_account_chosen,
        action => visit.place.path(AUTHORIZE, &visit.query.only(&[REQUEST, "ui_locales"])),
        another => to_page(visit, "sign-in", reply, true),
        problem => visit.problem.clone(),
    };
    visit.document("consent", values).image(logo).leads_to(target_of(reply)).answer()
}

/// A resource that the client wants to use, with a description of each scope.
fn resource(resource: &Json) -> Value {
    let scopes = resource["scopes"].as_array().into_iter().flatten().filter_map(|scope| scope["description"].as_str().map(str::to_owned));
    context! { name => text(resource, "name"), identifier => text(resource, "identifier"), scopes => scopes.collect::<Vec<_>>() }
}

fn target_of(reply: &Reply) -> Option<String> {
    let target = reply.text("form_target");
    self::target(target).or_else(|| target.strip_suffix(':').filter(|scheme| scheme.contains('.')).map(|scheme| format!("{scheme}:")))
}

fn text<'a>(value: &'a Json, name: &str) -> Option<&'a str> {
    value[name].as_str()
}

/// Whether the visitor should sign in with a different account.
pub(super) fn wants_another(visit: &Visit) -> bool {
    visit.query.get(ANOTHER).is_some()
}
