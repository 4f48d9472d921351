//! Signing up, signing in, sessions and OAuth.

pub mod oauth_authorize;
pub mod oauth_token;
pub mod otp_check_sign_in_code;
pub mod otp_send_sign_in_code;
pub mod otp_sign_in;
pub mod password_sign_in;
pub mod password_sign_up;
pub mod session_delete_current;
pub mod session_list;
pub mod session_refresh;
mod tokens;

use shared::http::Register;

/// The operations of this area.
pub fn operations(register: &mut impl Register) {
    register.operation(password_sign_up::ROUTE, password_sign_up::handle);
    register.operation(password_sign_in::ROUTE, password_sign_in::handle);
    register.operation(otp_send_sign_in_code::ROUTE, otp_send_sign_in_code::handle);
    register.operation(otp_sign_in::ROUTE, otp_sign_in::handle);
    register.operation(otp_check_sign_in_code::ROUTE, otp_check_sign_in_code::handle);
    register.operation(oauth_authorize::ROUTE, oauth_authorize::handle);
    register.operation(oauth_token::ROUTE, oauth_token::handle);
    register.operation(session_list::ROUTE, session_list::handle);
    register.operation(session_refresh::ROUTE, session_refresh::handle);
    register.operation(session_delete_current::ROUTE, session_delete_current::handle);
}
