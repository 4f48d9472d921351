//! `POST /handler/{page}`: receives the form of a page.

use api::http::Route;
use api::http::TableAction::BatchGetItem;
use auth_functions::{
    cli_complete, mfa_sign_in, oauth_authorize, oauth_cross_domain, otp_send_sign_in_code, otp_sign_in, passkey_initiate_authentication,
    passkey_sign_in, password_reset, password_send_reset_code, password_sign_in, password_sign_up, session_delete, session_delete_current,
};
use openid_functions::{authorization_complete, logout_begin};
use teams_functions::{invitation_accept, invitation_details};
use users_functions::{contact_channel_send_own_code, contact_channel_verify};

use crate::answer::Answer;
use crate::pages;
use crate::visit::Visit;

const CALLS: &[Route] = &[
    authorization_complete::ROUTE,
    cli_complete::ROUTE,
    contact_channel_send_own_code::ROUTE,
    contact_channel_verify::ROUTE,
    invitation_accept::ROUTE,
    invitation_details::ROUTE,
    logout_begin::ROUTE,
    mfa_sign_in::ROUTE,
    oauth_authorize::ROUTE,
    oauth_cross_domain::ROUTE,
    otp_send_sign_in_code::ROUTE,
    otp_sign_in::ROUTE,
    passkey_initiate_authentication::ROUTE,
    passkey_sign_in::ROUTE,
    password_reset::ROUTE,
    password_send_reset_code::ROUTE,
    password_sign_in::ROUTE,
    password_sign_up::ROUTE,
    session_delete::ROUTE,
    session_delete_current::ROUTE,
];

pub const ROUTE: Route =
    Route::post("hosted-page-submit", "/handler/{page}").summary("Accepts the form of a hosted page").table(&[BatchGetItem]).page(CALLS);

pub async fn handle(mut visit: Visit) -> Answer {
    let answer = pages::submit(&mut visit).await;
    visit.finish(answer)
}
