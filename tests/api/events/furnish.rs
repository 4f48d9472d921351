//! Creates the data that the events need.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use crypto::digest::Digest;
use crypto::totp::TotpSecret;
use gateway::keys::Keys;
use jiff::{SignedDuration, Timestamp};
use model::code::{Code, Purpose, StoredCode};
use model::content::image::{Format, ImageName};
use model::document::{DocumentKind, MailDocument};
use model::email::Email;
use model::email::category::Category;
use model::notice::NotMe;
use model::outbox::{CreatedWith, NewEntry, OutboxEntry, Recipients, Source};
use model::owned_key::Owner;
use model::permission::{PermissionId, Scope};
use model::place::Place;
use model::profile_image::{ImageKind, Upload};
use model::project::apple_bundle::APPLE;
use model::project::config::Level;
use model::project::key_set::NewKeys;
use model::project::second_factor::SecondFactorSettings;
use model::project::{KeyKind, ProjectConfig};
use model::provider::account::ProviderAccount;
use model::provider::registration::Registration;
use model::session::cli::{CliSignIn, Decision, SessionRef, login_code};
use model::session::token::Subject;
use model::session::{Session, refresh_token};
use model::sign_in::authorization::Authorization;
use model::sign_in::second_factor::MfaAttempt;
use model::user::User;
use model::user::channel::NewChannel;
use model::user::device::{Device, DeviceToken};
use model::user::enrolment::Enrolment;
use model::user::ownership::Author;
use model::user::totp::{self, Authenticator};
use serde_json::json;
use store::content::images::Shelf;
use store::document::DocumentRow;
use store::link::{Link, Release, Unsubscribe};
use store::project::key_set;
use store::provider::account;
use store::provider::tokens as kept;
use store::provider::tokens::ProviderTokens;
use store::user::{self, EmailClaim, device};
use store::{Write, code, outbox, profile_image, session};
use support::stand_in::StandIn;
use support::{TestApp, authenticator_code};
use wire::clock::after;
use wire::id::{
    AuthenticatorId, ChannelId, DeviceId, DocumentId, EmailId, KeySetId, ProjectId, ProviderAccountId, SessionId, TeamId, UserId,
};

use crate::events::openid;
use crate::events::owned_keys;
use crate::events::passkeys;
use crate::events::webhook;
use crate::world_of_teams;

pub(crate) const PROJECT: &str = "6fbbf22e-f4b2-4c6e-95a1-beab6fa41063";
/// A project with the same content as the project of the events.
pub(crate) const TWIN: &str = "a1d4c6b8-3e5f-4a70-8b92-c4d5e6f70819";
/// The query of events that contain only the code of a link.
pub(super) const LINK: &str = "code=2h7bkqm4x8r1tz6w0c5vjn9pd3yfgs2a7hekb4mq8xr1t";
pub(super) const TWIN_LINK: &str = "t1rx8qm4bkeh7a2sgfy3dp9njv5c0w6zt1r8x4mqkb7h2";
pub(super) const TWIN_KEY: &str = "vjn9pd3yfgs2a7hekb4mq8xr1tz6w0c52h7bkqm4x8r1t";
pub(crate) const KEY: &str = "0123456789abcdefghjkmnpqrstvwxyz0123456789abc";
pub(crate) const CODE: &str = "2h7bkqm4x8r1tz6w0c5vjn9pd3yfgs2a7hekb4mq8xr1t";
/// The access token's session.
const SESSION: &str = "018f0b6c-0d1e-7a2b-8c23-4a8e9f5b6c70";
/// The refresh token of the session with the id [`SESSION`].
const REFRESH_TOKEN: &str = "0f9b6c1e2f4b4d7a8a345b9f0c6d7e81018f0b6c0d1e7a2b8c234a8e9f5b6c70xq4hb1mz8tk5wr0ydn3gjp6sfe";
const USER: &str = "0f9b6c1e-2f4b-4d7a-8a34-5b9f0c6d7e81";
const MAIL: &str = "3b1f5a52-8f0e-4b57-9d2c-7c8d9e0f1a2b";

/// An image of the site, in base64.
const SITE_IMAGE: &str = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAIAAAB7QOjdAAAADUlEQVR42mNgaKgAIgAF3wHxuofCmwAAAABJRU5ErkJggg==";

/// A template, a theme and a draft.
const DOCUMENTS: [(DocumentKind, &str); 3] = [
    (DocumentKind::Template, "8c1f2b7e-5d3a-4e6f-9b0c-1a2d3e4f5a6b"),
    (DocumentKind::Theme, "4e7d9a1c-2b3f-4c5d-8e6a-9f0b1c2d3e4f"),
    (DocumentKind::Draft, "b7a6c5d4-e3f2-4a1b-8c9d-0e1f2a3b4c5d"),
];

/// An address of the user that is neither primary nor verified.
const CHANNEL: &str = "5d0c8a3e-7b1f-4c2d-9e6a-1f2b3c4d5e6f";
/// The user's account at a provider.
const PROVIDER_ACCOUNT: &str = "8c4e2b7a-6d1f-4e3c-9a5b-2d8f7c6e1b90";
/// The secret of an authenticator app, and the code that it shows when the tests' clock starts.
const AUTHENTICATOR: &[u8] = b"12345678901234567890";
const AUTHENTICATOR_CODE: &str = "082995";
/// A remembered device of the user who has the authenticator app.
const DEVICE: &str = "018f0b6c-2e3f-7a4d-8b34-6c9f0d6d7e82";
/// The id of the authenticator app.
const PHONE: &str = "5b8e0c6a-3d1f-4e2b-9a7c-6f0d1e2b3c4d";
/// The bundle id of the project's app.
const BUNDLE: &str = "com.example.app";
/// A set of the project's API keys.
const KEY_SET: &str = "c4a1d2e3-5f60-4b7a-8c9d-0e1f2a3b4c5d";
/// API keys of the user and of the user's team.
const USER_KEY: &str = "d2b1c0a9-8f7e-4d6c-9b5a-4c3d2e1f0a9b";
const TEAM_KEY: &str = "e3c2d1b0-9a8f-4e7d-8c6b-5d4e3f2a1b0c";
/// A session that the access token does not belong to.
const OTHER_SESSION: &str = "018f0b6c-1e2f-7b4d-8a34-5b9f0c6d7e81";

/// The placeholders in the events, with their values.
pub(super) type Placeholders = Vec<(&'static str, String)>;

/// Creates a project with all data that the events need, and returns the values of the
/// placeholders. The placeholders are the access tokens of three users, two API keys, an identity
/// token and a current authenticator code. The first user has a password, the second does not, and
/// the third belongs to `internal`.
pub(super) async fn furnish(app: &TestApp, id: &str, key: &str) -> Placeholders {
    let project = ProjectId::parse(id).unwrap();
    let [client, server, admin] = ["pck_", "ssk_", "sak_"].map(|prefix| format!("{prefix}{key}").into());
    let keys = Keys { project_id: project.clone(), client, server, admin };
    keys.install(&app.app.store, &app.app.clock, &app.app.entropy).await.unwrap();
    write_image(app).await;
    let (user, session) = write_account(app, &project).await;
    let (bare, bare_session) = write_bare_account(app, &project).await;
    write_settings(app, &project, key).await;
    write_key_set(app, &project).await;
    write_authorization(app, &project).await;
    webhook::write(app, &project).await;
    write_mail_documents(app, &project, user.id).await;
    write_cli_sign_ins(app, &project, SessionRef::of(&session, &user)).await;
    world_of_teams::write(app, &project, &user).await;
    // Both users were active today.
    app.app.store.count_active(&project, &[user.clone(), bare.clone()], app.now()).await.unwrap();
    let owner_token = world_of_teams::write_owner(app).await;
    let user_key = owned_keys::write(app, &project, Owner::User(user.id), USER_KEY).await;
    let team_key = owned_keys::write(app, &project, Owner::Team(TeamId::parse(world_of_teams::TEAM).unwrap()), TEAM_KEY).await;
    let client_token = openid::write(app, &project, &user, &session).await;
    let tokens = [(user, session), (bare, bare_session)].map(|(user, session)| {
        let subject = Subject::of(&user, &project, &ProjectConfig::default(), &session);
        app.app.signer.sign(&subject, app.now(), app.app.settings.access_token_life)
    });
    let [token, bare_token] = tokens;
    let code = authenticator_code(AUTHENTICATOR, app.now().as_second());
    vec![
        ("<access token>", token),
        ("<access token without password>", bare_token),
        ("<access token of internal>", owner_token),
        ("<access token of a client>", client_token),
        ("<user API key>", user_key),
        ("<team API key>", team_key),
        ("<identity token of Apple>", apple_token(app)),
        (AUTHENTICATOR_CODE, code),
    ]
}

/// Stores the site image that an event requests.
async fn write_image(app: &TestApp) {
    let bytes = STANDARD.decode(SITE_IMAGE).unwrap();
    let name = ImageName { digest: Digest::from_bytes(&bytes), width: 2, height: 1, format: Format::Png };
    app.app.store.store_image(&Shelf::Table(app.app.store.clone()), &name, bytes, app.now()).await.unwrap();
}

/// Provider tokens that are used without a check with the provider.
fn tokens_of(app: &TestApp, project: &ProjectId, account: &ProviderAccount) -> ProviderTokens {
    let registration = Registration { issuer: None, client_id: "a".to_owned() };
    let owner = kept::owner(project, account, Some(&registration));
    let access = app.app.sealer.seal(&app.app.entropy, &owner, &"gho_token".to_owned().into()).unwrap();
    let (now, end) = (app.now().as_millisecond(), (app.now() + SignedDuration::from_hours(1)).as_millisecond());
    let tokens = json!({ "access": access, "scope": "user:email", "registration": registration, "expires_at": end, "confirmed_at": now });
    serde_json::from_value(tokens).unwrap()
}

async fn write_account(app: &TestApp, project: &ProjectId) -> (User, Session) {
    let (entropy, now) = (&app.app.entropy, app.now());
    let email = Email::parse("ada@example.com").unwrap();
    let mut user = User { id: UserId::parse(USER).unwrap(), ..User::new(entropy, now) };
    user.password = Some(app.app.hasher.hash(entropy, &"correct horse battery".to_owned().into()).await);
    user.add_primary_email(entropy, email.clone(), true);
    let other = Email::parse("ada@other.example").unwrap();
    let other = NewChannel { value: other, used_for_auth: false, is_verified: false, is_primary: false };
    user.add_channel(ChannelId::parse(CHANNEL).unwrap(), other, Author::Server).unwrap();
    let github = ProviderAccount {
        id: ProviderAccountId::parse(PROVIDER_ACCOUNT).unwrap(),
        provider_id: "github".to_owned(),
        issuer: None,
        account_id: "583231".to_owned(),
        email: None,
        allow_sign_in: true,
        allow_connected_accounts: true,
    };
    user.provider_accounts.push(github.clone());
    user.passkeys.push(passkeys::registered(now));
    user.selected_team_id = Some(TeamId::parse(world_of_teams::TEAM).unwrap());
    user.permissions.insert(world_of_teams::audit());
    let tokens = tokens_of(app, project, &github);
    let session = Session::start(&user, &ProjectConfig::default().sessions, None, entropy, now);
    // The place of a request without a connection, as requests from events are.
    let place = Place::of(Ipv4Addr::UNSPECIFIED.into());
    let session = Session { id: SessionId::parse(SESSION).unwrap(), place: Some(place), ..session };
    let code = Code::parse(CODE).unwrap();
    let stored = |purpose| StoredCode {
        purpose,
        email: email.clone(),
        user_id: Some(user.id),
        channel_id: None,
        expires_at: after(now, Purpose::SignIn.life()),
        used: false,
        epoch: user.credential_epoch,
    };
    let mut writes: Vec<Write> = vec![
        user::create(project, &user).unwrap(),
        user::claim_email(project, &email, &EmailClaim::of(&user, user.primary().unwrap())).unwrap(),
        account::claim(project, &github, (&user).into()).unwrap(),
        kept::keep_tokens(project, user.id, &github, &tokens).unwrap(),
        code::create(project, &code, &stored(Purpose::SignIn)).unwrap(),
        code::create(project, &code, &stored(Purpose::VerifyEmail)).unwrap(),
        code::create(project, &code, &stored(Purpose::ResetPassword)).unwrap(),
        outbox::create(project, &mail(user.id, now)).unwrap(),
        profile_image::put(project, user.id, &picture().digest(), &picture()).unwrap(),
    ];
    writes.extend(passkeys::challenges(project, &user, now));
    writes.push(session::create(project, &session, &REFRESH_TOKEN.to_owned().into()).unwrap());
    let other = Session { id: SessionId::parse(OTHER_SESSION).unwrap(), ..session.clone() };
    writes.push(session::create(project, &other, &refresh_token::draw(entropy, &other)).unwrap());
    app.app.store.transact(writes).await.unwrap();
    (user, session)
}

/// The shortest content that is accepted as a PNG picture.
pub(crate) fn picture() -> Upload {
    Upload { kind: ImageKind::Png, bytes: b"\x89PNG\r\n\x1a\n".to_vec() }
}

/// A user without a password, whose sign-in waits for a code from an authenticator app.
async fn write_bare_account(app: &TestApp, project: &ProjectId) -> (User, Session) {
    let (entropy, now) = (&app.app.entropy, app.now());
    let mut user = User::new(entropy, now);
    user.add_primary_email(entropy, Email::parse("bob@example.com").unwrap(), false);
    let secret = TotpSecret::parse(STANDARD.encode(AUTHENTICATOR)).unwrap();
    let (sealer, owner) = (&app.app.sealer, totp::owner(project, user.id));
    let phone = Authenticator::seal(sealer, entropy, &owner, &secret, now).unwrap();
    user.totp = Some(Authenticator { id: AuthenticatorId::parse(PHONE).unwrap(), ..phone }.into());
    let enrolment = Enrolment::seal(sealer, entropy, &owner, &secret, (&user, now)).unwrap();
    let settings = SecondFactorSettings { remember_device_days: 30, ..SecondFactorSettings::default() };
    let token = DeviceToken::draw(entropy, now);
    let place = Place::of(Ipv4Addr::LOCALHOST.into());
    let remembered = Device::remember(&user, &token, &settings, &place, now).unwrap();
    let remembered = Device { id: DeviceId::parse(DEVICE).unwrap(), ..remembered };
    let attempt = MfaAttempt::new(&user, false, Vec::new(), now);
    let session = Session::start(&user, &ProjectConfig::default().sessions, None, entropy, now);
    let code = Code::parse(CODE).unwrap();
    let mut writes = vec![
        user::create(project, &user).unwrap(),
        code::create_attempt(project, &code, &attempt).unwrap(),
        code::create_enrolment(project, &code, &enrolment).unwrap(),
        device::create(project, &remembered).unwrap(),
    ];
    writes.push(session::create(project, &session, &refresh_token::draw(entropy, &session)).unwrap());
    app.app.store.transact(writes).await.unwrap();
    (user, session)
}

/// A confirmed sign-in of a command-line tool, and a sign-in that is still waiting.
async fn write_cli_sign_ins(app: &TestApp, project: &ProjectId, by: SessionRef) {
    let waiting = CliSignIn::new(None, Place::of([203, 0, 113, 7].into()), None, app.now());
    let confirmed = CliSignIn { decision: Some(Decision::Confirmed(by)), ..waiting.clone() };
    let code = Code::parse(CODE).unwrap();
    app.app.store.begin_cli_sign_in(project, &code.digest(), &waiting).await.unwrap();
    app.app.store.begin_cli_sign_in(project, &login_code(&code).digest(), &confirmed).await.unwrap();
}

fn mail(user_id: UserId, now: Timestamp) -> OutboxEntry {
    let source = Source { subject: Some("Hello".to_owned()), html: Some("<p>Hello</p>".to_owned()), ..Source::default() };
    let new = NewEntry {
        to: Recipients::UserPrimaryEmail { user_id },
        source,
        variables: serde_json::Map::new(),
        category: Category::Transactional,
        is_high_priority: false,
        created_with: CreatedWith::ProgrammaticCall,
        scheduled_at: None,
    };
    OutboxEntry::new(EmailId::parse(MAIL).unwrap(), new, now)
}

/// Writes a template, a theme and a draft, and the links of sent emails.
async fn write_mail_documents(app: &TestApp, project: &ProjectId, user_id: UserId) {
    for (kind, id) in DOCUMENTS {
        let html = if kind == DocumentKind::Theme { "<b>{{ content }}</b>" } else { "<p>Hello</p>" };
        let document = MailDocument { id: DocumentId::parse(id).unwrap(), ..MailDocument::from_source(html.to_owned(), app.now()) };
        app.app.store.write_mail_document(project, kind, &DocumentRow::new(document, Level::Environment)).await.unwrap();
    }
    // A link does not name its project, so the links of each project need different codes.
    let link_code = if project.as_str() == PROJECT { CODE } else { TWIN_LINK };
    let (code, now, email) = (Code::parse(link_code).unwrap(), app.now(), Email::parse("ada@other.example").unwrap());
    let release = Release { channel_id: ChannelId::parse(CHANNEL).unwrap(), email };
    let user = app.app.store.user(project, user_id).await.unwrap().unwrap().user;
    let not_me = NotMe { email: user.primary().unwrap().value.clone(), since: 1, before: Some(user.snapshot()) };
    let links = [
        Link::new(project, user_id, Unsubscribe { category: Category::Marketing }, now).create(&code),
        Link::new(project, user_id, release, now).create(&code),
        Link::new(project, user_id, not_me, now).create(&code),
    ];
    app.app.store.transact(links.map(Result::unwrap)).await.unwrap();
}

async fn write_settings(app: &TestApp, project: &ProjectId, key: &str) {
    let providers = json!({ "config": { "magic_link_enabled": true, "passkey_enabled": true, "client_user_deletion_enabled": true, "client_team_creation_enabled": true, "oauth_client_registration_enabled": true, "allow_user_api_keys": true, "allow_team_api_keys": true, "bot_challenge": { "provider": "altcha", "sign_up": "off", "send_sign_in_code": "off", "oauth": "off" }, "oauth_providers": [{ "id": "github", "client_id": "a", "client_secret": "b" }, { "id": "apple", "client_id": "a", "client_secret": "b", "apple_bundle_ids": [BUNDLE] }] } });
    let admin = app.admin().with("x-stack-project-id", project.as_str()).with("x-stack-super-secret-admin-key", &format!("sak_{key}"));
    assert_eq!(admin.patch("/api/v1/internal/projects/current", providers).await.status(), 200);
    let mut row = app.app.store.project(project).await.unwrap().unwrap();
    for (scope, id) in [(Scope::Team, "read_invoices"), (Scope::Project, "audit")] {
        row.project.config.rbac.create(&PermissionId::parse(id).unwrap(), scope, None, BTreeSet::new()).unwrap();
    }
    app.app.store.update_project(&row.project, row.version, None).await.unwrap();
}

/// An identity token for the first native sign-in of a user.
fn apple_token(app: &TestApp) -> String {
    let now = app.now().as_second();
    StandIn::lasting(APPLE).key().sign(&json!({
        "iss": "https://appleid.apple.com", "aud": BUNDLE, "iat": now, "exp": now + 600, "sub": "001.native",
        "email": "native@example.com", "email_verified": true,
    }))
}

async fn write_key_set(app: &TestApp, project: &ProjectId) {
    let mut keys = NewKeys::random(&app.app.entropy, [KeyKind::SecretServer], "Backend".to_owned(), app.now());
    keys.set.id = KeySetId::parse(KEY_SET).unwrap();
    app.app.store.transact(key_set::create(project, &keys).unwrap()).await.unwrap();
}

/// An OAuth flow that waits for the user's return from GitHub.
async fn write_authorization(app: &TestApp, project: &ProjectId) {
    let state = "af0ifjsldkj".to_owned();
    let authorization = Authorization { project_id: project.clone(), state, ..app.authorization("github") };
    app.app.store.begin_authorization(&format!("{CODE}.{project}").into(), &authorization).await.unwrap();
}
