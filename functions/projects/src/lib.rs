//! Projects, their settings and their public keys.
