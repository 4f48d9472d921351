//! Signing up, signing in, sessions and OAuth.
