//! The keys of the items that a request names ([`Route::reads`](crate::http::route::Route::reads)).
//! The keys are known before the project is read, so `Access` fetches the items in the same round
//! trip. Malformed ids are skipped here and reported when the input is parsed.

use std::borrow::Cow;

use axum::extract::RawPathParams;
use crypto::webauthn::client_data::Ceremony;
use http::request::Parts;
use model::code::Code;
use model::email::Email;
use model::email::any::AnyEmail;
use model::openid::grant::OauthGrant;
use model::openid::parameters::Parameters;
use model::openid::request::RequestName;
use model::owned_key::text::KeyText;
use model::passkey::ceremony::claimed_user;
use model::profile_image;
use model::session::cli::login_code;
use model::session::token::Claims;
use model::user::reference::UserRef;
use serde_json::Value;
use store::Key;
use store::cli_sign_in::sign_in_key;
use store::document::document_key;
use store::keys::{project_key, team_key, user_key};
use store::openid::{client_key, grant_key, request_key};
use store::outbox::entry_key;
use store::owned_key::owner_key;
use store::passkey::challenge_key;
use store::project::key_set::set_key;
use store::session::token_key;
use store::team::membership::member_key;
use store::user::email_claim_key;
use url::form_urlencoded;
use wire::id::{DocumentId, EmailId, KeySetId, ProjectId, TeamId, UserId};

use crate::http::table::NamedItem;
use crate::product::header_family::header;
use crate::product::input::ParsedBody;

/// The parts of a request that may name items.
pub(crate) struct Names<'a> {
    pub(crate) parts: &'a Parts,
    pub(crate) path: Option<&'a RawPathParams>,
    pub(crate) claims: Option<&'a Claims>,
}

impl Names<'_> {
    pub(crate) fn keys(&self, reads: &[NamedItem], project: &ProjectId) -> Vec<Key> {
        reads.iter().flat_map(|named| self.keys_of(*named, project)).collect()
    }

    fn keys_of(&self, named: NamedItem, project: &ProjectId) -> Vec<Key> {
        let keys = match named {
            NamedItem::User => self.user().map(|user| vec![user_key(project, user)]),
            NamedItem::EmailClaim => self.email().map(|email| vec![email_claim_key(project, &email)]),
            NamedItem::Team => self.id("team_id", TeamId::parse).map(|team| {
                let own = self.claims.map(|claims| claims.sub);
                let members = own.into_iter().chain(self.user()).map(|user| member_key(project, team, user));
                members.chain([team_key(project, team)]).collect()
            }),
            NamedItem::SelectedTeam => self.claims.and_then(Claims::selected_team).map(|team| vec![team_key(project, team)]),
            NamedItem::Document(kind) => self.id("id", DocumentId::parse).map(|id| vec![document_key(project, kind, id)]),
            NamedItem::Mail => self.id("id", EmailId::parse).map(|id| vec![entry_key(project, id)]),
            NamedItem::KeySet => self.id("id", KeySetId::parse).map(|id| vec![set_key(project, id)]),
            NamedItem::KeyOwner => self.checked_key(project).map(|key| vec![owner_key(project, key.owner)]),
            NamedItem::CliSignIn => self.login_code().map(|code| vec![sign_in_key(project, &code.digest())]),
            NamedItem::RefreshToken => {
                let token = self.text("refresh_token").or_else(|| self.text("anon_refresh_token"));
                token.map(|token| vec![token_key(project, &token.into_owned().into())])
            }
            NamedItem::RefreshTokenHeader => {
                let token = header(&self.parts.headers, "refresh-token").ok().flatten();
                token.map(|token| vec![token_key(project, &token.to_owned().into())])
            }
            NamedItem::Project => self.id("project_id", ProjectId::parse).map(|id| vec![project_key(&id)]),
            NamedItem::Challenge(ceremony) => self.id("code", Code::parse).map(|code| vec![challenge_key(project, ceremony, &code)]),
            NamedItem::PasskeyUser => self.body().and_then(passkey_user).map(|user| vec![user_key(project, user)]),
            NamedItem::PasskeyProof => self.body().and_then(|body| body.get("passkey")).map(|proof| {
                let code = proof.get("code").and_then(|code| Code::parse(code.as_str()?).ok());
                let challenge = code.map(|code| challenge_key(project, Ceremony::Authentication, &code));
                challenge.into_iter().chain(passkey_user(proof).map(|user| user_key(project, user))).collect()
            }),
            NamedItem::RequestingClient => {
                let client = self.text("parameters").and_then(|text| Parameters::parse(&text).client_id().ok());
                client.map(|client| vec![client_key(project, client.id())])
            }
            NamedItem::AuthorizationRequest => self.text("request").and_then(|text| RequestName::parse(&text)).map(|name| {
                let grant = self.claims.map(|claims| grant_key(project, claims.sub, OauthGrant::id(name.client_id)));
                [request_key(project, &name), client_key(project, name.client_id)].into_iter().chain(grant).collect()
            }),
        };
        keys.unwrap_or_default()
    }

    /// The email address in the field `email`.
    pub(crate) fn email(&self) -> Option<Email> {
        self.id("email", AnyEmail::parse).map(|email| email.0)
    }

    /// Whether the request uploads a picture, as a data URL in a field `profile_image_url`.
    pub(crate) fn uploads(&self) -> bool {
        let picture = self.body().and_then(|body| body.get("profile_image_url")?.as_str());
        picture.is_some_and(profile_image::is_upload)
    }

    pub(crate) fn body_bytes(&self) -> usize {
        self.parts.extensions.get::<ParsedBody>().map_or(0, |body| body.bytes)
    }

    /// The user's or team's API key in the field `api_key`, if it is a key of this project.
    pub(crate) fn checked_key(&self, project: &ProjectId) -> Option<KeyText> {
        self.id("api_key", KeyText::parse).filter(|key| key.project == *project)
    }

    /// The user with the id `user_id`; `None` for `me`, because the signed-in user is fetched in
    /// any case.
    fn user(&self) -> Option<UserId> {
        match self.id("user_id", UserRef::parse)? {
            UserRef::Me => None,
            UserRef::Id(id) => Some(id),
        }
    }

    /// The login code of a command-line tool's sign-in.
    fn login_code(&self) -> Option<Code> {
        let polled = self.id("polling_code", Code::parse).map(|code| login_code(&code));
        polled.or_else(|| self.id("login_code", Code::parse))
    }

    fn body(&self) -> Option<&Value> {
        self.parts.extensions.get::<ParsedBody>()?.json.as_ref()
    }

    fn id<T, E>(&self, name: &str, parse: impl Fn(&str) -> Result<T, E>) -> Option<T> {
        parse(&self.text(name)?).ok()
    }

    fn text(&self, name: &str) -> Option<Cow<'_, str>> {
        let path = || self.path.as_ref()?.iter().find(|(of, _)| *of == name).map(|(_, text)| Cow::Borrowed(text));
        let query = || form_urlencoded::parse(self.parts.uri.query()?.as_bytes()).filter(|(of, _)| of == name).last().map(|(_, text)| text);
        let body = || self.body()?.get(name)?.as_str().map(Cow::Borrowed);
        path().or_else(query).or_else(body)
    }
}

/// The user claimed by the passkey response in the field `authentication_response`.
fn passkey_user(object: &Value) -> Option<UserId> {
    claimed_user(object.get("authentication_response")?, None)
}
