//! The way back to the app. The query of the first page contains the URL to open after the sign-in.
//! Every link to another page repeats this parameter, so nothing needs to be stored.
//!
//! An app on another domain gets the session as an authorization code
//! (`POST /api/v1/auth/oauth/cross-domain/authorize`) if its SDK has sent a state and a PKCE
//! challenge. Without a state and a challenge, the visitor is only redirected to the app. The pages
//! do not redirect to a URL that the project does not trust.

use model::project::redirect::RedirectUrl;
use serde_json::{Value, json};
use url::Url;

use crate::render::origin;
use crate::visit::Visit;
use crate::visit::fields::Fields;

const RETURN_TO: &str = "after_auth_return_to";
// The names that the published SDK gives to the parameters of a sign-in on another domain.
const STATE: &str = "hexclave_cross_domain_state";
const CHALLENGE: &str = "hexclave_cross_domain_code_challenge";
const AFTER_CALLBACK: &str = "hexclave_cross_domain_after_callback_redirect_url";

/// The URL to which the visitor returns, and the parameters for handing over the session.
pub(crate) struct WayBack {
    /// The URL to which the visitor returns, either absolute or relative to the hosted pages.
    to: Option<String>,
    state: Option<String>,
    challenge: Option<String>,
    after_callback: Option<String>,
}

/// The maximum length of a query parameter that the pages repeat, in bytes.
fn max_length(field: &str) -> usize {
    match field {
        RETURN_TO | AFTER_CALLBACK => 2048,
        STATE => 512,
        _ => 128,
    }
}

/// What to do after a sign-in.
pub(crate) enum Next {
    /// A redirect to this URL.
    Url(String),
    /// A handover of the session to the app as a code. The value is the body of the request for the
    /// code.
    Handover(Value),
}

/// The kind of URL to which the visitor returns.
enum Target {
    /// One of these pages.
    Own(Url),
    /// A trusted URL of the app.
    App(RedirectUrl),
}

impl WayBack {
    /// The query parameters that the links between pages repeat.
    pub(crate) const FIELDS: [&'static str; 5] = [RETURN_TO, STATE, CHALLENGE, AFTER_CALLBACK, "ui_locales"];

    /// The part of a query that the links between pages repeat. The length of each field is
    /// limited, because every link of a page contains it.
    pub(crate) fn carried(query: &Fields) -> Fields {
        let carried = query.only(&Self::FIELDS);
        let long = carried.pairs().filter(|(name, value)| value.len() > max_length(name)).map(|(name, _)| name).collect::<Vec<_>>();
        carried.without(&long)
    }

    /// The way back in the query of a visit. If the query lacks a parameter, the URL to which the
    /// visitor returns may contain it, because the SDK adds the parameter to the query and to that
    /// URL.
    pub(crate) fn of(visit: &Visit) -> Self {
        let query = Self::carried(&visit.query);
        let to = query.get(RETURN_TO);
        let inner = to.and_then(|to| to.split_once('?')).map(|(_, query)| query.split('#').next().unwrap_or_default());
        let inner = Fields::of_query(inner.unwrap_or_default());
        let field = |name: &str| query.get(name).or_else(|| inner.get(name)).map(str::to_owned);
        Self { to: to.map(str::to_owned), state: field(STATE), challenge: field(CHALLENGE), after_callback: field(AFTER_CALLBACK) }
    }

    fn target(&self, visit: &Visit) -> Option<Target> {
        let to = self.to.as_deref()?;
        if let Some(url) = visit.place.own(to, &visit.app.settings.own_pages) {
            return Some(Target::Own(url));
        }
        let url = RedirectUrl::parse(to).ok()?;
        let rules = visit.project.redirects(&visit.app.settings.own_pages);
        rules.trust_for_oauth(&url).then_some(Target::App(url))
    }

    /// A source for `form-action` in the content security policy: the app's origin, or the scheme
    /// of a native app.
    pub(crate) fn form_target(&self, visit: &Visit) -> Option<String> {
        let Target::App(url) = self.target(visit)? else { return None };
        let url = url.url();
        if url.origin().is_tuple() { origin(url.as_str()) } else { Some(format!("{}:", url.scheme())) }
    }

    /// Whether the query contains a URL to which the visitor must not be redirected.
    pub(crate) fn is_untrusted(&self, visit: &Visit) -> bool {
        self.to.is_some() && self.target(visit).is_none()
    }

    /// The URL that is opened after the sign-in.
    pub(crate) fn next(&self, visit: &Visit) -> Next {
        let app = match self.target(visit) {
            Some(Target::App(app)) => app,
            Some(Target::Own(url)) => return Next::Url(url.into()),
            None => return Next::Url(visit.place.url("account-settings", &Fields::default())),
        };
        match (&self.state, &self.challenge) {
            (Some(state), Some(challenge)) => Next::Handover(json!({
                "redirect_uri": app.url().as_str(),
                "state": state,
                "code_challenge": challenge,
                "code_challenge_method": "S256",
                "after_callback_redirect_url": self.after_callback,
            })),
            _ => Next::Url(app.url().as_str().to_owned()),
        }
    }

    /// The page of this service to which the visitor returns.
    pub(crate) fn own_page(&self, visit: &Visit) -> Option<String> {
        let Target::Own(url) = self.target(visit)? else { return None };
        url.path_segments()?.next_back().map(str::to_owned)
    }

    /// The URL to open after a sign-out, which is a page of the app or of this service. `None`
    /// means that the visitor stays on the page.
    pub(crate) fn after_sign_out(&self, visit: &Visit) -> Option<String> {
        Some(match self.target(visit)? {
            Target::Own(url) => url.into(),
            Target::App(app) => app.url().as_str().to_owned(),
        })
    }
}

impl Visit {
    /// The part of the query that leads back to the app.
    pub(crate) fn way_back(&self) -> Fields {
        WayBack::carried(&self.query)
    }
}
