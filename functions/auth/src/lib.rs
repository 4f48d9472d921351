//! Signing up, signing in, sessions and OAuth.

pub mod anonymous_sign_up;
pub mod challenge_create;
pub mod connected_account_list;
pub mod connected_account_token;
pub mod connected_account_token_of;
pub mod mfa_sign_in;
pub mod not_me;
pub mod not_me_show;
mod oauth;
pub mod oauth_authorize;
pub mod oauth_callback;
pub mod oauth_callback_form;
pub mod oauth_provider_create;
pub mod oauth_provider_delete;
pub mod oauth_provider_list;
pub mod oauth_provider_read;
pub mod oauth_provider_update;
pub mod oauth_token;
pub mod otp_check_sign_in_code;
pub mod otp_send_sign_in_code;
pub mod otp_sign_in;
mod pages;
pub mod password_check_reset_code;
pub mod password_reset;
pub mod password_send_reset_code;
pub mod password_set;
pub mod password_sign_in;
pub mod password_sign_up;
pub mod password_update;
pub mod session_create;
pub mod session_delete;
pub mod session_delete_all;
pub mod session_delete_current;
pub mod session_list;
pub mod session_reauthenticate;
pub mod session_refresh;
mod sign_in;

use api::http::Register;

/// The operations of this area.
pub fn operations(register: &mut impl Register) {
    register.operation(password_sign_up::ROUTE, password_sign_up::handle);
    register.operation(password_sign_in::ROUTE, password_sign_in::handle);
    register.operation(otp_send_sign_in_code::ROUTE, otp_send_sign_in_code::handle);
    register.operation(otp_sign_in::ROUTE, otp_sign_in::handle);
    register.operation(otp_check_sign_in_code::ROUTE, otp_check_sign_in_code::handle);
    register.operation(mfa_sign_in::ROUTE, mfa_sign_in::handle);
    register.operation(oauth_authorize::ROUTE, oauth_authorize::handle);
    register.operation(oauth_callback::ROUTE, oauth_callback::handle);
    register.operation(oauth_callback_form::ROUTE, oauth_callback_form::handle);
    register.operation(oauth_token::ROUTE, oauth_token::handle);
    register.operation(connected_account_list::ROUTE, connected_account_list::handle);
    register.operation(connected_account_token::ROUTE, connected_account_token::handle);
    register.operation(connected_account_token_of::ROUTE, connected_account_token_of::handle);
    register.operation(oauth_provider_list::ROUTE, oauth_provider_list::handle);
    register.operation(oauth_provider_create::ROUTE, oauth_provider_create::handle);
    register.operation(oauth_provider_read::ROUTE, oauth_provider_read::handle);
    register.operation(oauth_provider_update::ROUTE, oauth_provider_update::handle);
    register.operation(oauth_provider_delete::ROUTE, oauth_provider_delete::handle);
    register.operation(session_list::ROUTE, session_list::handle);
    register.operation(session_refresh::ROUTE, session_refresh::handle);
    register.operation(session_delete_current::ROUTE, session_delete_current::handle);
    register.operation(anonymous_sign_up::ROUTE, anonymous_sign_up::handle);
    register.operation(password_check_reset_code::ROUTE, password_check_reset_code::handle);
    register.operation(password_reset::ROUTE, password_reset::handle);
    register.operation(password_send_reset_code::ROUTE, password_send_reset_code::handle);
    register.operation(password_set::ROUTE, password_set::handle);
    register.operation(password_update::ROUTE, password_update::handle);
    register.operation(session_create::ROUTE, session_create::handle);
    register.operation(session_delete::ROUTE, session_delete::handle);
    register.operation(session_delete_all::ROUTE, session_delete_all::handle);
    register.operation(session_reauthenticate::ROUTE, session_reauthenticate::handle);
    register.operation(challenge_create::ROUTE, challenge_create::handle);
    register.operation(not_me_show::ROUTE, not_me_show::handle);
    register.operation(not_me::ROUTE, not_me::handle);
}
