//! The path parameters of the operations on a user's provider accounts, and the function that
//! writes a change.

use api::product::Access;
use deserr::Deserr;
use errors::{Error, KnownError};
use flows::accounts::{ExtraWrites, change_as};
use model::provider::account::is_account_id;
use model::user::provider_accounts::AccountRefusal;
use model::user::reference::UserRef;
use model::user::{MAX_ACCOUNTS, User};
use store::user::UserRow;
use utoipa::ToSchema;
use wire::id::ProviderAccountId;
use wire::level::Level;

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct ProviderAccountPath {
    /// A user's id, or `me`.
    #[schema(value_type = String)]
    pub(crate) user_id: UserRef,
    /// The account's id in Gatelet, not at the provider.
    pub(crate) provider_id: ProviderAccountId,
}

/// A user's id at a provider.
#[derive(Clone)]
pub(crate) struct AccountId(pub(crate) String);

wire::deserr_from!(AccountId, String, |text| if is_account_id(&text) { Ok(Self(text)) } else { Err("must be 1 to 512 bytes long") });

/// Changes a user's accounts together with their claims. `missing` is the error if the user no
/// longer exists. A user can sign in with only one account of each provider. A client must not
/// remove its user's last way to sign in.
pub(crate) async fn change<L>(
    access: &Access<L>,
    row: UserRow,
    missing: KnownError,
    change: impl Fn(&mut User) -> Result<(), AccountRefusal>,
) -> Result<User, Error> {
    access.check_fresh()?;
    let changed = change_as(access, row, missing, |user| {
        let before = user.clone();
        change(user).and_then(|()| user.keeps_one_sign_in(&before)).map_err(refusal)?;
        if access.level < Level::Server {
            user.keeps_way_to_sign_in(&before, &access.project.config).map_err(refusal)?;
        }
        Ok(ExtraWrites::default())
    });
    Ok(changed.await?.user)
}

fn refusal(refused: AccountRefusal) -> KnownError {
    match refused {
        AccountRefusal::NotFound => KnownError::ProviderAccountNotFound,
        AccountRefusal::Duplicate => KnownError::OauthProviderAccountIdAlreadyUsedForSignIn,
        AccountRefusal::TooMany => KnownError::TooManyProviderAccounts { max: MAX_ACCOUNTS },
        AccountRefusal::SecondSignIn => KnownError::AnotherProviderAccountSignsIn,
        AccountRefusal::LastWay => KnownError::LastSignInMethod,
    }
}
