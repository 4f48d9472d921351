//! Finds the owners of a provider account and of its email address, and makes the changes that link
//! the account to a user.

use errors::{Error, KnownError};
use flows::App;
use flows::context::Scope;
use flows::email::notice;
use flows::new_owner::hand_over;
use model::email::Email;
use model::project::Project;
use model::provider::account::ProviderAccount;
use model::provider::profile::Profile;
use model::sign_in::authorization::Purpose;
use model::sign_in::provider::{Decision, Refusal, Situation};
use model::user::User;
use model::user::ownership::{Proof, Prover};
use store::provider::account::{AccountClaim, account_claim_key};
use store::user::{self, EmailClaim, UserRow, email_claim_key};
use store::{Contention as _, Items, Key, Write};
use wire::id::{ProjectId, UserId};

/// The provider account to link to a user, with data from the provider's profile.
pub(crate) fn account_of(app: &App, project: &Project, provider_id: &str, profile: &Profile) -> ProviderAccount {
    let provider = project.config.oauth_provider(provider_id);
    ProviderAccount {
        id: app.entropy.uuid().into(),
        provider_id: provider_id.to_owned(),
        issuer: provider.and_then(|provider| project.config.issuer_of_accounts(provider)),
        account_id: profile.account_id.clone(),
        email: profile.email.clone(),
        allow_sign_in: true,
        allow_connected_accounts: true,
    }
}

/// The claims of a provider account and of its email address.
pub(crate) struct Owners {
    pub(crate) account: Option<AccountClaim>,
    pub(crate) email: Option<EmailClaim>,
}

impl Owners {
    pub(crate) fn keys(project: &ProjectId, account: &ProviderAccount) -> Vec<Key> {
        let email = account.email.as_ref().map(|email| email_claim_key(project, email));
        [account_claim_key(project, account)].into_iter().chain(email).collect()
    }

    /// Takes the claims from items that were read with [`Self::keys`].
    pub(crate) fn take(items: &mut Items, project: &ProjectId, account: &ProviderAccount) -> Result<Self, store::Error> {
        let email = account.email.as_ref().map(|email| items.entity(&email_claim_key(project, email)));
        Ok(Self { account: items.entity(&account_claim_key(project, account))?, email: email.transpose()?.flatten() })
    }

    /// Decides whether the account signs in its user, is linked to an existing user, or creates a
    /// user. `flow_user` is the user to whom the account is to be linked, or the anonymous user to
    /// upgrade, if any.
    pub(crate) fn decide(
        &self,
        project: &Project,
        profile: &Profile,
        purpose: Purpose,
        flow_user: Option<UserId>,
    ) -> Result<Decision, KnownError> {
        let situation = Situation {
            purpose,
            flow_user,
            account_owner: self.account.map(|claim| (claim.user_id, claim.signs_in)),
            email: profile.email.as_ref().map(|email| (email, profile.email_verified)),
            email_owner: self.email.as_ref().map(|claim| (claim.user_id, claim.is_verified)),
            strategy: project.config.oauth_account_merge_strategy,
            sign_up_enabled: project.config.sign_up_enabled,
        };
        situation.decide().map_err(|refusal| refused(refusal, profile.email.as_ref()))
    }
}

/// Links the account to the user of `row`, who owns the account's verified email address, and
/// resets the count of wrong passwords. Returns the changed user and the writes of the change.
pub(crate) fn attached(
    Scope { app, project, place }: Scope<'_>,
    row: &UserRow,
    account: &ProviderAccount,
) -> Result<(User, Vec<Write>), Error> {
    let mut user = row.user.clone();
    if user.add_account(account.clone()).is_err() {
        return Err(Error::conflict());
    }
    user.forget_wrong_passwords();
    // The account is linked because of the verified email address, so the transaction checks that
    // the user still has it.
    let address = account.email.as_ref().map(|email| user::has_verified_email(&project.id, email, user.id));
    let notices = notice::about_change(app, project, Some(place), &row.user, &mut user)?;
    Ok((user, address.into_iter().chain(notices).collect()))
}

/// Gives the account of the user of `row`, whose email address is unverified, to the person who has
/// proved the address through the provider. Returns the changed user and the writes of the change.
pub(crate) async fn taken_over(
    Scope { app, project, .. }: Scope<'_>,
    row: &UserRow,
    account: &ProviderAccount,
    profile: &Profile,
) -> Result<(User, Vec<Write>), Error> {
    let email = profile.email.as_ref().ok_or_else(Error::conflict)?;
    let mut user = row.user.clone();
    // The person who proves the address may not be the person who created the account, so the proof
    // counts as coming from a stranger.
    if user.prove(email, Prover::Stranger, app.entropy.uuid().into()) != Some(Proof::First) {
        return Err(Error::conflict());
    }
    user.provider_accounts.push(account.clone());
    let writes = hand_over(app, project, row, &mut user).await?;
    Ok((user, writes))
}

/// The error for a provider account that cannot be used.
pub(crate) fn refused(refusal: Refusal, email: Option<&Email>) -> KnownError {
    match refusal {
        // The caller may learn only that the account belongs to another user.
        Refusal::OfAnother | Refusal::NotForSignIn => KnownError::OauthConnectionAlreadyConnectedToAnotherUser,
        Refusal::SignUpNotEnabled => KnownError::SignUpNotEnabled,
        Refusal::EmailTaken { would_work_if_verified } => KnownError::ContactChannelAlreadyUsedForAuthBySomeoneElse {
            r#type: "email",
            contact_channel_value: email.map(ToString::to_string),
            would_work_if_email_was_verified: would_work_if_verified,
        },
    }
}
