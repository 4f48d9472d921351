//! Finds or creates the user of a provider account, and issues an authorization code for the user.
//! Everything is written in one transaction, so that a failed flow leaves nothing behind. Changes
//! to existing users ([`PendingAccount`]) and the provider's tokens for their accounts
//! ([`NewTokens`]) are written only when the code is redeemed.

use errors::{Error, KnownError};
use flows::App;
use flows::accounts::admit;
use flows::context::Scope;
use flows::teams::welcome;
use model::provider::account::ProviderAccount;
use model::provider::profile::Profile;
use model::session::Session;
use model::sign_in::authorization::{Authorization, Purpose, RequestedAccess};
use model::sign_in::provider::Decision;
use model::sign_in::user_code;
use model::sign_up::rule::AuthMethod;
use model::user::User;
use oauth::exchange::Tokens;
use secrecy::SecretString;
use store::keys::user_key;
use store::provider::account::{self, Holder};
use store::provider::authorization::{self, AuthorizationCode, CODE_LIFE, PendingAccount, PendingChange};
use store::provider::tokens::{NewTokens, ProviderTokens};
use store::session::{self, session_key};
use store::user::{self, UserRow};
use store::{Write, optimistic};
use wire::clock::after;
use wire::id::UserId;

use crate::oauth::owners::{Owners, account_of};
use crate::oauth::sealed_tokens::TokenSealer;

struct Flow<'a> {
    scope: Scope<'a>,
    authorization: &'a Authorization,
    /// Absent if apps cannot get access tokens for the account.
    tokens: Option<ProviderTokens>,
    account: ProviderAccount,
    profile: &'a Profile,
}

/// Issues an authorization code for the user of a provider account.
pub(super) async fn resolve(
    scope: Scope<'_>,
    authorization: &Authorization,
    tokens: &Tokens,
    profile: &Profile,
) -> Result<SecretString, Error> {
    let account = account_of(scope.app, scope.project, &authorization.provider_id, profile);
    // If the flow uses the deployment's client, apps do not get the provider's access tokens.
    let own = scope.project.config.oauth_provider(&account.provider_id).filter(|provider| !provider.is_shared());
    let seal = |provider| {
        let sealer = TokenSealer { app: scope.app, project: scope.project, provider, account: &account };
        sealer.seal(tokens, tokens.refresh_token.as_ref(), asked(authorization).scope)
    };
    let tokens = own.map(seal).transpose()?;
    let flow = Flow { scope, authorization, tokens, account, profile };
    optimistic!(|_| { flow.attempt().await })
}

/// The access that the flow requested from the provider. The provider grants these scopes unless
/// its response names other scopes (RFC 6749 §5.1). `offline_access` is ignored, because this scope
/// alone permits nothing.
pub(super) fn asked(authorization: &Authorization) -> RequestedAccess {
    RequestedAccess::new(&authorization.provider_id, authorization.purpose, authorization.provider_scope.as_deref(), false)
}

/// The provider account with which a user signs up.
pub(crate) struct SignUpAccount<'a> {
    pub(crate) profile: &'a Profile,
    pub(crate) account: &'a ProviderAccount,
    /// Whether the email address from the provider can also be used to sign in.
    pub(crate) email_signs_in: bool,
}

/// The items that `decide` needs.
struct DecisionItems {
    owners: Owners,
    flow_user: Option<UserRow>,
    /// The session in which the flow began. `None` if nobody was signed in, the session no longer
    /// exists, or an earlier version of Gatelet started the flow.
    flow_session: Option<Session>,
}

impl DecisionItems {
    /// The user who owns the email address, and the credential epoch in the address's claim.
    fn owner(&self, user_id: UserId) -> Holder {
        Holder { user_id, epoch: self.owners.email.as_ref().map_or(0, |claim| claim.epoch) }
    }
}

impl Flow<'_> {
    /// Decides what the flow does, and writes the result. Fails with a conflict if the items have
    /// changed since they were read.
    async fn attempt(&self) -> Result<SecretString, Error> {
        let known = self.read().await?;
        let decision = self.decide(&known)?;
        let project = &self.scope.project.id;
        match decision {
            Decision::SignIn(user) => {
                // A user who links a provider account has already presented an access token, so the
                // account does not have to be enabled for sign-in.
                let (epoch, checks) = match self.authorization.purpose {
                    Purpose::Authenticate => {
                        let epoch = known.owners.account.map_or(0, |claim| claim.epoch);
                        (epoch, vec![account::signs_in(project, &self.account, user)])
                    }
                    Purpose::Link => (self.authorization.epoch, self.still_of(user)),
                };
                let (code, create) = self.code(Holder { user_id: user, epoch }, false, None)?;
                // The sign-in is recorded when the code is redeemed.
                self.scope.app.store.transact_unrecorded([create].into_iter().chain(checks).collect()).await?;
                Ok(code)
            }
            Decision::Attach(user) if self.authorization.purpose == Purpose::Link => {
                self.pending(self.beginner(user), PendingChange::Link).await
            }
            Decision::Attach(user) => self.pending(known.owner(user), PendingChange::Attach).await,
            Decision::TakeOver(user) => self.pending(known.owner(user), PendingChange::TakeOver).await,
            Decision::Upgrade { user, email_signs_in } => {
                if let Some(row) = &known.flow_user {
                    self.signed_up(row.user.clone(), email_signs_in).await?;
                }
                self.pending(self.beginner(user), PendingChange::Upgrade { email_signs_in }).await
            }
            Decision::SignUp { email_signs_in } => {
                let user = User::new(&self.scope.app.entropy, self.scope.app.clock.now());
                let mut user = self.signed_up(user, email_signs_in).await?;
                let (code, create) = self.code(Holder::from(&user), true, None)?;
                let mut writes = vec![create];
                writes.extend(welcome(self.scope.app, self.scope.project, &mut user)?);
                self.scope.app.store.create_account(project, &user, writes).await?.done()?;
                Ok(code)
            }
        }
    }

    /// The user after signing up with the account, if the project's rules allow the sign-up.
    async fn signed_up(&self, user: User, email_signs_in: bool) -> Result<User, KnownError> {
        let account = SignUpAccount { profile: self.profile, account: &self.account, email_signs_in };
        sign_up(self.scope, user, &account).await
    }

    /// Issues a code. The code's user is changed when the code is redeemed, or after the second
    /// factor. See [`PendingAccount`].
    async fn pending(&self, user: Holder, change: PendingChange) -> Result<SecretString, Error> {
        let (account, tokens, profile) = (self.account.clone(), self.tokens.clone(), self.profile.clone());
        let pending = PendingAccount { change, account, tokens, profile };
        let is_new_user = matches!(change, PendingChange::Upgrade { .. });
        let checks = if change.is_of_beginner() {
            self.still_of(user.user_id)
        } else {
            vec![user::at_epoch(&self.scope.project.id, user.user_id, user.epoch)]
        };
        let (code, create) = self.code(user, is_new_user, Some(pending))?;
        self.scope.app.store.transact_unrecorded([create].into_iter().chain(checks).collect()).await?;
        Ok(code)
    }

    /// The user who began the flow.
    fn beginner(&self, user_id: UserId) -> Holder {
        Holder { user_id, epoch: self.authorization.epoch }
    }

    /// Conditions for the transaction: since the flow began, the user's credentials have not
    /// changed and the session has not ended.
    fn still_of(&self, user: UserId) -> Vec<Write> {
        let session =
            self.authorization.begun_in.map(|session| session::lives(self.scope.project, user, session, self.scope.app.clock.now()));
        [user::at_epoch(&self.scope.project.id, user, self.authorization.epoch)].into_iter().chain(session).collect()
    }

    async fn read(&self) -> Result<DecisionItems, Error> {
        let project = &self.scope.project.id;
        let user_key = self.authorization.user_id.map(|user| user_key(project, user));
        let begun = self.authorization.user_id.zip(self.authorization.begun_in);
        let session_key = begun.map(|(user, session)| session_key(project, user, session));
        let others = [&user_key, &session_key].into_iter().flatten().cloned();
        let mut items = self.scope.app.store.get_many(Owners::keys(project, &self.account).into_iter().chain(others)).await?;
        Ok(DecisionItems {
            owners: Owners::take(&mut items, project, &self.account)?,
            flow_user: user_key.and_then(|key| items.take(&key)).map(UserRow::of).transpose()?,
            flow_session: session_key.map(|key| items.entity(&key)).transpose()?.flatten(),
        })
    }

    fn decide(&self, known: &DecisionItems) -> Result<Decision, Error> {
        let purpose = self.authorization.purpose;
        // The user who began the flow is ignored if the user's credentials have changed or the
        // session has ended since then. A sign-in also ignores a user who is no longer anonymous.
        let (settings, now) = (&self.scope.project.config.sessions, self.scope.app.clock.now());
        let lives = |row: &UserRow| known.flow_session.as_ref().is_some_and(|session| session.is_live(&row.user, settings, now));
        let began =
            |row: &&UserRow| row.user.credential_epoch == self.authorization.epoch && (self.authorization.begun_in.is_none() || lives(row));
        let flow_user = known.flow_user.as_ref().filter(began).filter(|row| purpose == Purpose::Link || row.user.is_anonymous);
        if purpose == Purpose::Link && flow_user.is_none() {
            return Err(KnownError::CannotGetOwnUserWithoutUser.into());
        }
        known.owners.decide(self.scope.project, self.profile, purpose, flow_user.map(|row| row.user.id)).map_err(Error::from)
    }

    /// The provider's new tokens for an account that needs no pending change.
    fn new_tokens(&self) -> Option<NewTokens> {
        let asks_for_scope = self.authorization.provider_scope.as_deref().is_some_and(|scope| !scope.trim().is_empty());
        let replaces_wider = asks_for_scope || self.authorization.purpose == Purpose::Link;
        self.tokens.clone().map(|tokens| NewTokens { account: self.account.clone(), tokens, replaces_wider })
    }

    /// A new code for the user, and the write that stores it.
    fn code(&self, user: Holder, is_new_user: bool, pending: Option<PendingAccount>) -> Result<(SecretString, Write), Error> {
        let code = user_code::draw(&self.scope.app.entropy, user.user_id);
        // If the code is for a different user from the one who began the flow, the flow is a
        // sign-in. A sign-in does not depend on an earlier session.
        let is_of_flow = match &pending {
            Some(pending) => pending.change.is_of_beginner(),
            None => self.authorization.purpose == Purpose::Link,
        };
        let stored = AuthorizationCode {
            user_id: user.user_id,
            epoch: user.epoch,
            begun_in: self.authorization.begun_in.filter(|_| is_of_flow),
            redirect_uri: self.authorization.redirect_uri.clone(),
            code_challenge: self.authorization.code_challenge.clone(),
            after_callback_redirect_url: self.authorization.after_callback_redirect_url.clone(),
            is_new_user,
            expires_at: after(self.scope.app.clock.now(), CODE_LIFE),
            new_tokens: if pending.is_none() { self.new_tokens() } else { None },
            pending,
            session_id: None,
            handed_over: None,
        };
        let create = authorization::create_code(&self.scope.project.id, &code, &stored)?;
        Ok((code, create))
    }
}

/// The user after signing up with a provider account, if the project's rules allow the sign-up.
pub(crate) async fn sign_up(scope: Scope<'_>, user: User, account: &SignUpAccount<'_>) -> Result<User, KnownError> {
    let Scope { app, project, place } = scope;
    let mut user = with_account(app, user, account);
    admit(app, project, &mut user, AuthMethod::OAuth(&account.account.provider_id), place).await?;
    Ok(user)
}

/// The user after the account is added and empty fields are filled from the provider's profile.
fn with_account(app: &App, mut user: User, &SignUpAccount { profile, account, email_signs_in }: &SignUpAccount<'_>) -> User {
    user.display_name = user.display_name.or_else(|| profile.name.clone());
    user.profile_image_url = user.profile_image_url.or_else(|| profile.picture.clone());
    if let Some(email) = &profile.email {
        let id = user.add_primary_email(&app.entropy, email.clone(), profile.email_verified);
        for channel in user.channels.iter_mut().filter(|channel| channel.id == id) {
            channel.used_for_auth = email_signs_in;
        }
    }
    user.provider_accounts.push(account.clone());
    user
}
