//! `POST /handler/account-settings`: receives a form of the account's page.

use api::http::Route;
use api::http::TableAction::BatchGetItem;
use auth_functions::{
    mfa_authenticator_begin, mfa_authenticator_delete, mfa_authenticator_update, mfa_authenticator_verify, mfa_device_delete,
    mfa_device_list, mfa_recovery_codes_create, oauth_authorize, oauth_provider_delete, passkey_delete, passkey_initiate_registration,
    passkey_register, passkey_update, password_set, password_update, session_delete, session_delete_all, session_list,
    session_reauthenticate, session_refresh,
};
use keys_functions::{user_key_create, user_key_list, user_key_update};
use openid_functions::{grant_delete, grant_list};
use teams_functions::{invitation_accept_by_id, invitation_list, membership_delete, team_create, team_list};
use users_functions::{
    contact_channel_create, contact_channel_delete, contact_channel_send_code, contact_channel_update, me_activity, me_delete, me_read,
    me_update,
};

use crate::account;
use crate::answer::Answer;
use crate::visit::account::AccountVisit;

const CALLS: &[Route] = &[
    grant_delete::ROUTE,
    grant_list::ROUTE,
    contact_channel_create::ROUTE,
    contact_channel_delete::ROUTE,
    contact_channel_send_code::ROUTE,
    contact_channel_update::ROUTE,
    invitation_accept_by_id::ROUTE,
    invitation_list::ROUTE,
    me_activity::ROUTE,
    me_delete::ROUTE,
    me_read::ROUTE,
    me_update::ROUTE,
    membership_delete::ROUTE,
    mfa_authenticator_begin::ROUTE,
    mfa_authenticator_delete::ROUTE,
    mfa_authenticator_update::ROUTE,
    mfa_authenticator_verify::ROUTE,
    mfa_device_delete::ROUTE,
    mfa_device_list::ROUTE,
    mfa_recovery_codes_create::ROUTE,
    oauth_authorize::ROUTE,
    oauth_provider_delete::ROUTE,
    passkey_delete::ROUTE,
    passkey_initiate_registration::ROUTE,
    passkey_register::ROUTE,
    passkey_update::ROUTE,
    password_set::ROUTE,
    password_update::ROUTE,
    session_delete::ROUTE,
    session_delete_all::ROUTE,
    session_list::ROUTE,
    session_reauthenticate::ROUTE,
    session_refresh::ROUTE,
    team_create::ROUTE,
    team_list::ROUTE,
    user_key_create::ROUTE,
    user_key_list::ROUTE,
    user_key_update::ROUTE,
];

pub const ROUTE: Route = Route::post("hosted-account-submit", "/handler/account-settings")
    .summary("Accepts a form of the hosted page of a user's account")
    .table(&[BatchGetItem])
    .page(CALLS);

pub async fn handle(AccountVisit(mut visit): AccountVisit) -> Answer {
    let answer = Box::pin(account::submit(&mut visit)).await;
    visit.finish(answer)
}
