use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;
use wire::clock::after;
use wire::entropy::Entropy;

use crate::openid::client::tests::client as stranger;
use crate::openid::client::{OauthClient, Origin};
use crate::openid::decision::{Step, UserDecision, Visitor, next};
use crate::openid::grant::{NewGrant, OauthGrant};
use crate::openid::parameters::Parameters;
use crate::openid::request::{AuthorizationError, AuthorizationRequest, Prompt};
use crate::project::SessionSettings;
use crate::session::client_name::DocumentUrl;
use crate::session::resource_scopes::ResourceScopes;
use crate::session::scope::Scopes;
use crate::session::{Amr, Session};
use crate::user::User;
use crate::user::restriction::RestrictedReason;

const START: Timestamp = Timestamp::UNIX_EPOCH;

fn client(is_first_party: bool, redirect_uri: &str) -> OauthClient {
    OauthClient { is_first_party, redirect_uris: vec![redirect_uri.to_owned()], ..stranger() }
}

fn request(client: &OauthClient, more: &str, now: Timestamp) -> AuthorizationRequest {
    let uri: String = url::form_urlencoded::byte_serialize(client.redirect_uris[0].as_bytes()).collect();
    let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
    let text = format!(
        "response_type=code&client_id={}&redirect_uri={uri}&code_challenge={challenge}&code_challenge_method=S256&{more}",
        client.id
    );
    let parameters = Parameters::parse(&text);
    let back = parameters.return_path(client).expect("a redirect URI");
    parameters.request(client, &[], back, now).expect("a request")
}

/// A user who signed in at the start, with the session of that sign-in.
fn account() -> (User, Session) {
    let entropy = Entropy::system();
    let user = User::new(&entropy, START);
    let session = Session::start(&user, &SessionSettings::default(), None, &entropy, START);
    (user, Session { amr: vec![Amr::Pwd], ..session })
}

struct Case<'a> {
    client: OauthClient,
    asks: &'a str,
    restricted: Option<RestrictedReason>,
    is_admitted: bool,
    granted: Option<&'a str>,
    decided: UserDecision,
}

impl Default for Case<'_> {
    fn default() -> Self {
        let decided = UserDecision::default();
        Self {
            client: client(false, "https://notes.example.com/cb"),
            asks: "scope=openid",
            restricted: None,
            is_admitted: true,
            granted: None,
            decided,
        }
    }
}

impl Case<'_> {
    /// The next step a minute after the sign-in.
    fn next(&self) -> Result<Step, AuthorizationError> {
        let (user, session) = account();
        let now = after(START, SignedDuration::from_mins(1));
        let grant = self.granted.map(|scopes| {
            let scopes = Scopes::parse(scopes).expect("scopes");
            OauthGrant::with(
                None,
                &NewGrant {
                    client: &self.client,
                    user: &user,
                    scopes: &scopes,
                    resources: &ResourceScopes::default(),
                    serial: Uuid::nil(),
                },
                START,
            )
        });
        let visitor =
            Visitor { user: &user, session: &session, restricted: self.restricted, is_admitted: self.is_admitted, grant: grant.as_ref() };
        let request = request(&self.client, self.asks, now);
        next(&request, &self.client, Some(&visitor), self.decided, now).map_err(|refusal| refusal.error)
    }
}

#[test]
fn the_first_thing_that_is_missing_is_asked_for() {
    let web = || client(true, "https://notes.example.com/cb");
    let allows = UserDecision { account: false, consent: true };
    let chosen = UserDecision { account: true, consent: false };
    for (case, expected) in [
        (Case::default(), Ok(Step::Consent)),
        (Case { decided: allows, ..Case::default() }, Ok(Step::Complete)),
        (Case { granted: Some("openid email"), ..Case::default() }, Ok(Step::Complete)),
        (Case { granted: Some("email"), ..Case::default() }, Ok(Step::Consent)),
        (Case { granted: Some("openid"), asks: "scope=openid&prompt=consent", ..Case::default() }, Ok(Step::Consent)),
        (Case { client: web(), ..Case::default() }, Ok(Step::Complete)),
        (Case { client: web(), asks: "prompt=consent", ..Case::default() }, Ok(Step::Consent)),
        (Case { client: client(true, "http://127.0.0.1/cb"), ..Case::default() }, Ok(Step::Consent)),
        (Case { client: client(true, "com.example.app:/cb"), ..Case::default() }, Ok(Step::Consent)),
        (Case { client: web(), asks: "prompt=login", ..Case::default() }, Ok(Step::SignInAgain)),
        (Case { client: web(), asks: "prompt=create", ..Case::default() }, Ok(Step::SignUp)),
        (Case { client: web(), asks: "max_age=59", ..Case::default() }, Ok(Step::SignInAgain)),
        (Case { client: web(), asks: "max_age=60", ..Case::default() }, Ok(Step::Complete)),
        (Case { client: web(), asks: "prompt=select_account", ..Case::default() }, Ok(Step::ChooseAccount)),
        (Case { client: web(), asks: "prompt=select_account", decided: chosen, ..Case::default() }, Ok(Step::Complete)),
        (Case { restricted: Some(RestrictedReason::EmailNotVerified), decided: allows, ..Case::default() }, Ok(Step::Onboarding)),
        (Case { restricted: Some(RestrictedReason::RestrictedByAdministrator), ..Case::default() }, Err(AuthorizationError::AccessDenied)),
        (Case { is_admitted: false, decided: allows, ..Case::default() }, Err(AuthorizationError::AccessDenied)),
        // Users without a second factor cannot prove one.
        (Case { client: web(), asks: "acr_values=urn:gatelet:mfa", ..Case::default() }, Ok(Step::Complete)),
    ] {
        assert_eq!(case.next(), expected, "{} {:?} {:?}", case.asks, case.granted, case.decided);
    }
}

#[test]
fn whatever_needs_a_page_is_an_error_of_a_silent_request() {
    let web = || client(true, "https://notes.example.com/cb");
    for (case, expected) in [
        (Case { asks: "scope=openid&prompt=none", ..Case::default() }, Err(AuthorizationError::ConsentRequired)),
        (Case { client: web(), asks: "prompt=none", ..Case::default() }, Ok(Step::Complete)),
        (Case { client: web(), asks: "prompt=none&max_age=1", ..Case::default() }, Err(AuthorizationError::LoginRequired)),
        (
            Case { client: web(), asks: "prompt=none", restricted: Some(RestrictedReason::EmailNotVerified), ..Case::default() },
            Err(AuthorizationError::InteractionRequired),
        ),
    ] {
        assert_eq!(case.next(), expected, "{}", case.asks);
    }
    let client = web();
    let silent = request(&client, "prompt=none", START);
    let error = next(&silent, &client, None, UserDecision::default(), START).map_err(|refusal| refusal.error);
    assert_eq!(error, Err(AuthorizationError::LoginRequired));
}

#[test]
fn who_has_signed_in_for_the_request_is_not_asked_again() {
    let (client, (user, session)) = (client(true, "https://notes.example.com/cb"), account());
    for asks in ["prompt=login", "prompt=create", "prompt=select_account", "max_age=0"] {
        let request = request(&client, asks, START);
        let visitor = Visitor { user: &user, session: &session, restricted: None, is_admitted: true, grant: None };
        let later = after(START, SignedDuration::from_mins(4));
        assert_eq!(next(&request, &client, Some(&visitor), UserDecision::default(), later), Ok(Step::Complete), "{asks}");
    }
}

#[test]
fn an_anonymous_user_signs_in_first() {
    let (client, (user, session)) = (client(true, "https://notes.example.com/cb"), account());
    let user = User { is_anonymous: true, ..user };
    let visitor = Visitor { user: &user, session: &session, restricted: None, is_admitted: true, grant: None };
    let step =
        |asks: &str, visitor: Option<&Visitor<'_>>| next(&request(&client, asks, START), &client, visitor, UserDecision::default(), START);
    assert_eq!(step("scope=openid", Some(&visitor)), Ok(Step::SignIn));
    assert_eq!((step("scope=openid", None), step("prompt=create", None)), (Ok(Step::SignIn), Ok(Step::SignUp)));
    assert_eq!(request(&client, "prompt=create", START).prompts, [Prompt::Create]);
}

#[test]
fn an_impersonation_is_refused() {
    let (client, (user, session)) = (client(true, "https://notes.example.com/cb"), account());
    let session = Session { is_impersonation: true, ..session };
    let visitor = Visitor { user: &user, session: &session, restricted: None, is_admitted: true, grant: None };
    let refused = next(&request(&client, "scope=openid", START), &client, Some(&visitor), UserDecision::default(), START);
    assert_eq!(refused.map_err(|refusal| refusal.error), Err(AuthorizationError::AccessDenied));
}

#[test]
fn consent_to_a_document_is_remembered_only_for_its_own_host() {
    let document = |url: &str| Origin::Document { url: DocumentUrl::parse(url).expect("a URL"), fresh_until: START };
    for (url, step) in [("https://notes.example.com/client.json", Step::Complete), ("https://other.example/client.json", Step::Consent)] {
        let described = OauthClient { origin: Some(document(url)), ..client(false, "https://notes.example.com/cb") };
        assert_eq!(Case { client: described, granted: Some("openid"), ..Case::default() }.next(), Ok(step), "{url}");
    }
}
