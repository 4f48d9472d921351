//! Signing up, signing in, sessions and OAuth.

mod anonymous;
mod password_change;
mod password_reset;
mod password_sign_up;
mod session_server;
