//! Signing in with a provider. The page `oauth-start` sends the visitor to the provider, and
//! `oauth-callback` receives the visitor with an authorization code of this service.
//!
//! The state and the PKCE verifier of a flow are in a sealed cookie on the pages' host, so only the
//! browser that began the flow can complete it. The flow begins on the API's host, because the
//! provider redirects to the callback on that host. The account's page links accounts in the same
//! way.

use auth_functions::{oauth_authorize, oauth_token, session_delete};
use crypto::seal::SealedText;
use http::header;
use jiff::SignedDuration;
use minijinja::context;
use model::project::own_pages::PATH;
use model::project::redirect::{RedirectUrl, Rules};
use model::session::refresh_token;
use model::sign_in::authorization::challenge;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use serde_json::json;
use url::Url;

use crate::answer::Answer;
use crate::pages::notice::Notice;
use crate::pages::{factor_form, signed_in, ways};
use crate::visit::Visit;
use crate::visit::account::ACCOUNT;
use crate::visit::call::{Call, Reply};
use crate::visit::fields::Fields;

// The names that the published SDK gives to the parameters of a page that needs the app's session.
const NESTED_SESSION: &str = "stack_nested_cross_domain_auth_refresh_token_id";
const NESTED_CALLBACK: &str = "stack_nested_cross_domain_auth_callback_url";
/// The time that a flow may take.
const LIFE: SignedDuration = SignedDuration::from_mins(10);

/// The value of `way` for a flow that links an account instead of signing in.
const LINK: &str = "link";

/// The data of a flow that the browser keeps.
#[derive(Serialize, Deserialize)]
struct Flow {
    state: String,
    verifier: String,
    /// How the visitor signs in.
    way: String,
    /// The query that leads back to the app.
    back: String,
    /// The page to show after an app has handed over its session; empty for other flows.
    #[serde(default)]
    page: String,
}

impl Flow {
    fn owner(visit: &Visit) -> String {
        format!("hosted-flow/{}", visit.project.id)
    }

    /// Starts a flow, and stores it in a cookie of the browser. `None` if the flow cannot be
    /// sealed.
    fn begin(visit: &Visit, way: &str, back: &str, page: &str) -> Option<Self> {
        let code = || visit.app.entropy.code().expose_secret().to_owned();
        let flow = Self { state: code(), verifier: code(), way: way.to_owned(), back: back.to_owned(), page: page.to_owned() };
        let text = SecretString::from(serde_json::to_string(&flow).ok()?);
        let sealed = visit.app.sealer.seal(&visit.app.entropy, &Self::owner(visit), &text).ok()?;
        for gone in visit.cookies.drop_flows() {
            visit.set_cookie(gone);
        }
        visit.set_cookie(visit.cookies.set_flow(&flow.state, &sealed.into_text(), LIFE));
        Some(flow)
    }

    /// Takes the flow whose state is in the query from the browser's cookie, and removes the
    /// cookie.
    fn take(visit: &Visit) -> Option<Self> {
        let state = visit.query.get("state")?;
        let sealed = SealedText::from_text(visit.cookies.flow(state)?.to_owned());
        let text = visit.app.sealer.open(&Self::owner(visit), &sealed).ok()?;
        let flow: Self = serde_json::from_str(text.expose_secret()).ok()?;
        visit.set_cookie(visit.cookies.set_flow(state, "", SignedDuration::ZERO));
        (flow.state == state).then_some(flow)
    }
}

/// `oauth-start?provider=…`: begins a flow. On the pages' host, this page stores the flow in the
/// browser and redirects to the same page on the API's host. On the API's host, the page gets the
/// provider's URL from the operation.
pub(super) async fn start(visit: &Visit) -> Answer {
    if visit.query.get("state").is_some() {
        return send(visit).await;
    }
    let Some(provider) = visit.query.get("provider") else { return refused(visit, "OTHER") };
    let Some(flow) = Flow::begin(visit, &format!("provider-{provider}"), &visit.way_back().query(), "") else {
        return refused(visit, "OTHER");
    };
    let query = Fields::default().with("provider", provider).with("state", &flow.state).with("code_challenge", &challenge(&flow.verifier));
    let query = query.with("redirect_uri", &visit.place.url("oauth-callback", &Fields::default()));
    Answer::redirect(&visit.place.url_at_api("oauth-start", query))
}

/// Starts a flow that links an account at a provider to the visitor's account, or returns the
/// error.
///
/// The function adds the access token that the operation requires, so no URL in the browser
/// contains the token. The operation returns the provider's URL instead of redirecting, because the
/// operation's cookie cannot be set from a project's host. The account is linked only when the code
/// is redeemed, which requires the verifier in this browser's cookie.
///
/// A document instead of a redirect sends the browser to the provider, because the policy
/// `form-action` also applies to redirects and cannot list the URLs of all providers.
pub(crate) async fn link(visit: &Visit, provider: &str) -> Result<Answer, Box<Reply>> {
    let back = visit.way_back().query();
    let Some(flow) = Flow::begin(visit, LINK, &back, "") else { return Ok(refused(visit, "OTHER")) };
    let token = visit.access_token().unwrap_or_default();
    let callback = visit.place.url("oauth-callback", &Fields::default());
    let query = query(visit, &callback, &flow.state, &challenge(&flow.verifier));
    let query = query.with("type", "link").with("token", &token).with("response_mode", "json");
    let call = Call::new().at(provider).query(query.query()).anonymous();
    let reply = visit.call(oauth_authorize::ROUTE, oauth_authorize::handle, call).await;
    if reply.error().is_some() {
        return Err(Box::new(reply));
    }
    let values = context! { href => reply.text("location"), provider => ways::provider_name(provider) };
    Ok(visit.document("onward", values).answer())
}

/// Sends the browser to the provider, with the cookie that binds the flow to the browser.
async fn send(visit: &Visit) -> Answer {
    // Only the pages may omit the project's client key, and only for the flows that they start.
    let callback = Url::parse(visit.query.text("redirect_uri")).ok();
    let pages = &visit.app.settings.own_pages;
    if !callback.is_some_and(|url| pages.has(&visit.project.id, &url) && url.path() == format!("{PATH}/oauth-callback")) {
        return refused(visit, "REDIRECT_URL_NOT_WHITELISTED");
    }
    let sent = &visit.query;
    let query = query(visit, sent.text("redirect_uri"), sent.text("state"), sent.text("code_challenge"));
    let query = match visit.form.get("bot_challenge_token") {
        Some(token) => query.with("bot_challenge_token", token).with("bot_challenge_phase", "visible"),
        None => query,
    };
    let call = Call::new().at(visit.query.text("provider")).query(query.query()).anonymous();
    let reply = visit.call(oauth_authorize::ROUTE, oauth_authorize::handle, call).await;
    let location = reply.headers.get(header::LOCATION).and_then(|location| location.to_str().ok());
    match location {
        Some(location) => {
            let cookies = reply.headers.get_all(header::SET_COOKIE).into_iter().filter_map(|cookie| cookie.to_str().ok());
            Answer::redirect(location).with_cookies(cookies.map(str::to_owned).collect::<Vec<_>>())
        }
        None if matches!(reply.error(), Some("BOT_CHALLENGE_REQUIRED" | "BOT_CHALLENGE_FAILED")) => {
            let provider = ways::provider_name(visit.query.text("provider"));
            let button = visit.fill("sign_in.with_provider", &[("provider", &provider)]);
            Notice::new(visit, visit.text("sign_in.title")).refused(&reply).keeping(visit.query.clone()).button("go", button).answer()
        }
        None => failed(visit, &reply),
    }
}

fn failed(visit: &Visit, reply: &Reply) -> Answer {
    Notice::new(visit, visit.text("problem.title")).refused(reply).link("sign-in", visit.text("common.start_again")).answer()
}

/// The query parameters of every request that starts a flow.
fn query(visit: &Visit, callback: &str, state: &str, challenge: &str) -> Fields {
    let query = [
        ("client_id", visit.project.id.as_str()),
        ("client_secret", ways::CLIENT_SECRET),
        ("redirect_uri", callback),
        ("scope", "legacy"),
        ("state", state),
        ("grant_type", "authorization_code"),
        ("code_challenge", challenge),
        ("code_challenge_method", "S256"),
        ("response_type", "code"),
    ];
    query.into_iter().fold(Fields::default(), |query, (name, value)| query.with(name, value))
}

/// `oauth-callback`: redeems the code, or shows why there is no code.
pub(super) async fn finish(visit: &mut Visit) -> Answer {
    let Some(flow) = Flow::take(visit) else { return refused(visit, "OAUTH_STATE_NOT_FOUND") };
    visit.query = Fields::of_query(&flow.back).or(&visit.query);
    let is_link = flow.way == LINK;
    let Some(code) = visit.query.get("code") else { return if is_link { unlinked(visit, None) } else { show_error(visit) } };
    let body = json!({
        "grant_type": "authorization_code",
        "client_id": visit.project.id.as_str(),
        "client_secret": ways::CLIENT_SECRET,
        "code": code,
        "code_verifier": flow.verifier,
        "redirect_uri": visit.place.url("oauth-callback", &Fields::default()),
    });
    let reply: Reply = visit.call(oauth_token::ROUTE, oauth_token::handle, Call::with(body).anonymous()).await;
    if !flow.page.is_empty() && reply.error().is_none() {
        signed_in::begin(visit, &reply, "");
        return Answer::redirect(&flow.page);
    }
    if is_link {
        return linked(visit, reply).await;
    }
    match signed_in::take(visit, reply, &flow.way).await {
        Ok(answer) => answer,
        Err(reply) => failed(visit, &reply),
    }
}

/// Fetches the session of an app that opens a page for its user. The query contains the id of the
/// session, and the URL of the app that hands the session over. If the visitor's session on the
/// pages is a different session, the browser is sent to the app. The app's SDK then returns an
/// authorization code for the app's session. The SDK calls this nested cross-domain sign-in.
pub(crate) fn fetch_session(visit: &Visit) -> Option<Answer> {
    let session = visit.query.get(NESTED_SESSION).filter(|_| visit.query.get("code").is_none())?;
    if visit.visitor.as_ref().is_some_and(|visitor| visitor.session.id.to_string() == session) {
        return None;
    }
    let app = RedirectUrl::parse(visit.query.get(NESTED_CALLBACK)?).ok()?;
    // The URL must belong to an app of the project. The URL must not be a page of this service,
    // because the page would redirect the browser again.
    if !(Rules { own: None, ..visit.project.redirects(&visit.app.settings.own_pages) }).trust(&app) || visit.is_at_own_host(&app) {
        return None;
    }
    let page = visit.place.url(&visit.page, &visit.way_back());
    let flow = Flow::begin(visit, "", "", &page)?;
    let mut url = app.url().clone();
    url.query_pairs_mut()
        .append_pair(NESTED_SESSION, session)
        .append_pair("redirect_uri", &visit.place.url("oauth-callback", &Fields::default()))
        .append_pair("state", &flow.state)
        .append_pair("code_challenge", &challenge(&flow.verifier))
        .append_pair("code_challenge_method", "S256")
        .append_pair("after_callback_redirect_url", &page);
    Some(Answer::redirect(url.as_str()))
}

/// Completes a flow that links an account. Redeeming the code has also started a session, which is
/// not needed, because the visitor already has one. If the user has a second factor, the page asks
/// for it first, and the visitor continues in the session that starts afterwards.
async fn linked(visit: &mut Visit, reply: Reply) -> Answer {
    if reply.error() == Some("MULTI_FACTOR_AUTHENTICATION_REQUIRED") {
        let account = visit.place.path(ACCOUNT, &visit.way_back());
        visit.query = visit.query.clone().with("after_auth_return_to", &account);
        return factor_form::ask(visit, &reply);
    }
    if reply.error().is_some() {
        return unlinked(visit, Some(&reply));
    }
    let token = SecretString::from(reply.text("refresh_token").to_owned());
    match (refresh_token::session_in(&token), &visit.visitor) {
        (Some((user, session)), Some(visitor)) if visitor.user.id == user => {
            let call = Call::for_me().at(&session.to_string());
            let ended = visit.call(session_delete::ROUTE, session_delete::handle, call).await;
            if let Some(code) = ended.error() {
                tracing::warn!(code, "the session of a link stays");
            }
        }
        // The session of the account's page has ended in the meantime.
        _ => signed_in::begin(visit, &reply, ""),
    }
    visit.account_changed("providers", "providers_linked")
}

/// The page that explains why no account was linked.
fn unlinked(visit: &Visit, reply: Option<&Reply>) -> Answer {
    let code = visit.query.get("errorCode").or_else(|| visit.query.get("error")).unwrap_or_default();
    let known = Some(visit.text(&format!("errors.{code}"))).filter(|text| !text.is_empty());
    let notice = Notice::new(visit, visit.text("account.providers.unlinked")).link(ACCOUNT, visit.text("common.account"));
    match reply {
        Some(reply) => notice.refused(reply).answer(),
        None => notice.text(known.unwrap_or_else(|| visit.text("errors.OAUTH_PROVIDER_ACCESS_DENIED"))).answer(),
    }
}

/// `error`: shows an error. `oauth-callback` also uses this page if a provider's flow fails.
pub(super) fn show_error(visit: &Visit) -> Answer {
    let code = visit.query.get("errorCode").unwrap_or("OTHER").to_owned();
    refused(visit, &code)
}

fn refused(visit: &Visit, code: &str) -> Answer {
    let known = visit.text(&format!("errors.{code}"));
    let text = if known.is_empty() { visit.text("errors.OTHER") } else { known };
    Notice::new(visit, visit.text("problem.title")).text(text).link("sign-in", visit.text("common.start_again")).answer()
}
