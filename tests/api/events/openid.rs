//! An OAuth client, with the items of a user's sign-in to the client.

use crypto::digest::Digest;
use jiff::Timestamp;
use model::openid::client::{ClientSecret, ClientType, Eligibility, OauthClient};
use model::openid::code::{CODE_LIFE, ClientCode};
use model::openid::grant::{NewGrant, OauthGrant};
use model::openid::request::{AuthorizationRequest, RequestName, ResponseMode, ReturnPath};
use model::openid::resource::{OauthResource, ResourceScope};
use model::project::signing_key::TokenAlgorithm;
use model::session::client::ClientSession;
use model::session::resource_scopes::{ResourceIdentifier, ResourceScopes};
use model::session::rotation::RefreshToken;
use model::session::scope::Scopes;
use model::session::token::Subject;
use model::session::token::client::TokenType;
use model::session::{Amr, Session};
use model::sign_in::authorization::challenge;
use model::user::User;
use store::openid::grant;
use store::openid::resource::Creation;
use store::openid::session::begin;
use support::TestApp;
use uuid::Uuid;
use wire::clock::after;
use wire::id::{OauthClientId, ProjectId, SessionId};

const CLIENT: &str = "5c1d7e2a-9b3f-4d6a-8e0c-2f4b6d8a1c3e";
const SECRET: &str = "ocs_4q8x2m7k1t9w3r5y0d6n8gj2p4sfeb1h7c2v9xq4hb1mz8t";
const REQUEST: &str = "5c1d7e2a9b3f4d6a8e0c2f4b6d8a1c3e7k2m9x4qw1t8r5y0d6n3gjp2sb";
const CODE: &str = "0f9b6c1e2f4b4d7a8a345b9f0c6d7e817d1e4a9c2b8f4c6d9e0a1b2c3d4e5f60";
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const REDIRECT: &str = "https://notes.example.com/cb";
/// The id that follows from the resource's identifier.
const RESOURCE_ID: &str = "48306b55-5363-8b4e-b64e-456c7837376a";
/// The session of the OAuth client.
const SESSION: &str = "018f0b6c-3f40-7b5e-8c45-7d0a1e7e8f93";

/// Writes a client, a grant, a request, a code and a session, and returns the access token of the
/// session.
pub(super) async fn write(app: &TestApp, project: &ProjectId, user: &User, session: &Session) -> String {
    let (store, now, entropy) = (&app.app.store, app.now(), &app.app.entropy);
    let (client, request) = (client(now), request(now));
    assert!(store.create_oauth_client(project, &client).await.unwrap());
    let resource = resource(now);
    assert_eq!(resource.identifier.id().to_string(), RESOURCE_ID);
    assert_eq!(store.create_oauth_resource(project, &resource).await.unwrap(), Creation::Created);
    store.begin_client_request(project, &RequestName::parse(REQUEST).unwrap(), &request).await.unwrap();
    let serial = Uuid::from_u128(0x1234);
    let given = OauthGrant::with(
        None,
        &NewGrant { client: &client, user, scopes: &Scopes::parse("openid").unwrap(), resources: &ResourceScopes::default(), serial },
        now,
    );
    let code = ClientCode::new(&request, user, session, Some(serial), after(now, CODE_LIFE));
    let grants = vec![grant::replace(project, user.id, None, &given).unwrap()];
    store.create_client_code(project, &CODE.to_owned().into(), &code, grants).await.unwrap();
    let id = SessionId::parse(SESSION).unwrap();
    let (_, rotation) = RefreshToken::first(user.id, id, entropy);
    let client_name = client.name();
    let own = ClientSession {
        id: client.id,
        name: client.name,
        scopes: request.scopes,
        resources: ResourceScopes::default(),
        grant: Some(serial),
        begun_in: session.id,
        rotation: Some(rotation),
    };
    let of_client = Session { id, client: Some(Box::new(own.clone())), amr: vec![Amr::Pwd], ..session.clone() };
    store.transact([begin(project, &of_client).unwrap()]).await.unwrap();
    let subject = Subject::of(user, project, &model::project::ProjectConfig::default(), &of_client);
    let claims = app.app.signer.client_claims(
        (&subject, true),
        &of_client,
        (client_name, &own, None),
        Uuid::from_u128(1),
        (now, app.app.settings.access_token_life),
    );
    app.app.signer.sign_claims(project, TokenType::Access, &claims)
}

fn resource(now: Timestamp) -> OauthResource {
    OauthResource {
        identifier: ResourceIdentifier::parse("https://notes.example.com/mcp").unwrap(),
        name: "Notes".to_owned(),
        scopes: vec![ResourceScope { name: "notes:read".to_owned(), description: "Read your notes".to_owned() }],
        signing_algorithm: TokenAlgorithm::Es256,
        access_token_seconds: None,
        created_at: now,
        updated_at: now,
    }
}

fn client(now: Timestamp) -> OauthClient {
    let secret = ClientSecret { digest: Digest::of(SECRET), last_four: "mz8t".to_owned(), expires_at: None };
    OauthClient {
        id: OauthClientId::parse(CLIENT).unwrap(),
        name: "Notes".to_owned(),
        logo_url: None,
        client_uri: None,
        policy_uri: None,
        tos_uri: None,
        client_type: ClientType::Confidential,
        is_first_party: false,
        pkce_optional: false,
        redirect_uris: vec![REDIRECT.to_owned()],
        post_logout_redirect_uris: Vec::new(),
        scopes: Scopes::standard(),
        signing_algorithm: TokenAlgorithm::Es256,
        access_token_seconds: None,
        session_seconds: None,
        admitted: Eligibility::Everyone,
        secrets: vec![secret],
        is_disabled: false,
        origin: None,
        expires_at: None,
        created_at: now,
        updated_at: now,
    }
}

fn request(now: Timestamp) -> AuthorizationRequest {
    let back = ReturnPath { redirect_uri: REDIRECT.to_owned(), state: None, response_mode: ResponseMode::Query };
    AuthorizationRequest {
        client_id: OauthClientId::parse(CLIENT).unwrap(),
        back,
        scopes: Scopes::parse("openid profile email teams permissions offline_access").unwrap(),
        resources: ResourceScopes::default(),
        nonce: None,
        code_challenge: Some(challenge(VERIFIER)),
        prompts: Vec::new(),
        max_age: None,
        hinted: None,
        login_hint: None,
        ui_locales: None,
        wants_mfa: false,
        began_at: now,
    }
}
