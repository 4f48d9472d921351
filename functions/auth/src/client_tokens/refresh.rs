//! Refreshes a session of a client. Each use replaces the refresh token. If a replaced token is
//! used again, the grant ends and its owner is notified (RFC 9700 §4.14.2).

use errors::{Error, KnownError};
use flows::context::Scope;
use flows::email::notice;
use flows::openid::targets::{self, TokenTarget};
use flows::{activity, limits, openid};
use model::metrics::activity::day;
use model::openid::client::OauthClient;
use model::openid::grant::{OauthGrant, is_granted};
use model::session::Session;
use model::session::rotation::{RefreshToken, Rotation, Use, token_owner};
use model::session::scope::Scopes;
use model::user::User;
use secrecy::ExposeSecret as _;
use store::keys::user_key;
use store::openid::grant_key;
use store::openid::session::end;
use store::user::UserRow;
use store::user::account::Outcome;
use store::{Conflict, Contention as _, Items, Key, Label, optimistic};
use wire::id::{OauthClientId, ProjectId, UserId};

use crate::client_tokens::answer::ClientTokens;
use crate::client_tokens::code::key_of_session;
use crate::client_tokens::issue::Issue;

/// The number of times that a request reads the session if other requests keep replacing the token
/// first.
const ATTEMPTS: usize = 3;

/// The keys of the items to read together with the client, which are the session, the user and the
/// grant.
pub(crate) fn keys(project: &ProjectId, client: OauthClientId, token: &RefreshToken) -> Vec<Key> {
    vec![key_of_session(project, token), user_key(project, token.user_id), grant_key(project, token.user_id, OauthGrant::id(client))]
}

pub(crate) async fn refresh(
    scope: Scope<'_>,
    client: &OauthClient,
    mut items: Items,
    token: RefreshToken,
    (narrowed, resource): (Option<&str>, Option<&str>),
) -> Result<ClientTokens, Error> {
    let Scope { app, project, place } = scope;
    let now = app.clock.now();
    let refused = || Error::from(KnownError::OauthGrantInvalid);
    let row = items.take(&user_key(&project.id, token.user_id)).map(UserRow::of).transpose()?;
    let grant = items.oauth_grant(&project.id, token.user_id, client.id)?;
    let mut session = items.entity::<Session>(&key_of_session(&project.id, &token))?;
    for _ in 0..ATTEMPTS {
        let found = session.take().filter(|session| session.client.as_ref().is_some_and(|own| own.id == client.id)).zip(row.as_ref());
        let Some((current, row)) = found else {
            limits::unknown_token(app, &project.id, place).await?;
            return Err(refused());
        };
        let (Some(own), user) = (current.client.as_ref(), &row.user) else { return Err(refused()) };
        let Some(rotation) = &own.rotation else { return Err(refused()) };
        let lives = current.is_live(user, &project.config.sessions, now)
            && is_granted(own.grant, grant.as_ref())
            && client.is_first_party == own.is_first_party();
        let used = rotation.used(&token, now);
        match used {
            Use::Unknown => {
                limits::unknown_token(app, &project.id, place).await?;
                return Err(refused());
            }
            _ if !lives => return Err(refused()),
            Use::Replayed => {
                end_stolen(scope, client, user.id, &current).await?;
                return Err(refused());
            }
            Use::Current | Use::Again(_) => {}
        }
        let is_restricted = user.restricted_reason_in(&current, &project.config).is_some();
        if is_restricted || !openid::is_admitted(app, project, client, user).await? {
            return Err(refused());
        }
        let mut target = targets::target(app, project, resource, &own.resources).await?;
        let narrowed = narrowed.map(|text| narrow(text, &own.scopes, target.as_mut())).transpose()?;
        limits::refresh(app, &project.id, token.text())?;
        let next = match used {
            Use::Again(successor) => Some(app.sealer.open(&token_owner(&project.id, current.id), &successor)?),
            _ => rotate(scope, &current, rotation, &token).await?,
        };
        if let Some(next) = next {
            note_use(scope, user, &current).await?;
            let issue = Issue { scope, client, user, session: &current, nonce: None, narrowed, target };
            return issue.tokens(Some(next.expose_secret().to_owned())).await;
        }
        // Another request has replaced the token, so both requests return the same new token.
        session = app.store.session(&project.id, token.user_id, token.session_id).await?;
    }
    Err(Error::conflict())
}

/// Replaces the refresh token. `None` if another request was faster.
async fn rotate(
    scope: Scope<'_>,
    session: &Session,
    rotation: &Rotation,
    token: &RefreshToken,
) -> Result<Option<secrecy::SecretString>, Error> {
    let Scope { app, project, .. } = scope;
    let (next, now) = (token.next(&app.entropy), app.clock.now());
    let sealed = app.sealer.seal(&app.entropy, &token_owner(&project.id, session.id), next.text())?;
    let replaced = rotation.replaced(&next, sealed, now);
    let is_first = app.store.rotate(&project.id, session, rotation, &replaced, now).await?;
    Ok(is_first.then(|| next.text().clone()))
}

/// Every refresh records that the user is active.
async fn note_use(scope: Scope<'_>, user: &User, session: &Session) -> Result<(), Error> {
    let Scope { app, project, place } = scope;
    let now = app.clock.now();
    let (touched, last_day) =
        futures_util::try_join!(app.store.touch_user(&project.id, session, now), app.store.last_day(&project.id, user.id))?;
    if touched.is_some() && !last_day.is_some_and(|last| last.covers(day(now), user.is_anonymous)) {
        activity::note(app, project, user, now).await;
    }
    if session.place.as_ref() != Some(place) {
        app.store.note_place(&project.id, session, place).await?;
    }
    Ok(())
}

/// The scopes of one access token, which may have fewer scopes than the session (RFC 6749 §6).
/// Removes from `target` the scopes of the resource that the client does not request.
fn narrow(text: &str, granted: &Scopes, target: Option<&mut TokenTarget>) -> Result<Scopes, KnownError> {
    let asked = Scopes::parse(text).map_err(|_| KnownError::OauthScopeNotGranted)?;
    let of_resource = target.as_ref().map(|target| target.scopes.clone()).unwrap_or_default();
    if asked.is_empty() || !asked.are_within(&granted.clone().and(&of_resource)) {
        return Err(KnownError::OauthScopeNotGranted);
    }
    if let Some(target) = target {
        target.scopes = of_resource.only(&asked);
    }
    Ok(asked.only(granted))
}

/// Ends the access that a stolen token gives: the grant with all its sessions or, for a first-party
/// client, only this session. The user is notified in the same transaction.
async fn end_stolen(scope: Scope<'_>, client: &OauthClient, user: UserId, session: &Session) -> Result<(), Error> {
    let Scope { app, project, place } = scope;
    optimistic!(|_| {
        let Some(row) = app.store.user(&project.id, user).await? else { return Ok(()) };
        let mut after = row.user.clone();
        let mut writes = notice::about_replayed_token(app, project, Some(place), (&row.user, &mut after), &client.name)?;
        writes.push(end(&project.id, session));
        match app.store.change_account(&project.id, &row, &after, writes).await {
            Ok(Outcome::Done) => Ok(()),
            Ok(_) => Err(store::Error::Conflict(Conflict::default()).into()),
            // Another request has already ended the session.
            Err(store::Error::Conflict(conflict)) if conflict.is_of(Label::Code) => Ok(()),
            Err(error) => Err(Error::from(error)),
        }
    })
}
