//! Signing up, signing in, sessions and OAuth.

mod password_sign_up;
