//! What an OAuth flow remembers while the user is at the provider.
//!
//! | item | pk | sk | cost |
//! |---|---|---|---|
//! | authorization | `S#<digest of the inner state>` | `STATE` | 1 unit for each KB to write |

use secrecy::{ExposeSecret, SecretString};

use super::{Error, Key, Store, Write};
use crate::crypto::digest::Digest;
use crate::oauth::authorization::Authorization;

fn state_key(state: &SecretString) -> Key {
    Key::new(format!("S#{}", Digest::of(state.expose_secret())), "STATE")
}

impl Store {
    /// Remembers an authorization under its inner state.
    pub async fn begin_authorization(&self, state: &SecretString, authorization: &Authorization) -> Result<(), Error> {
        self.write(Write::create(state_key(state), authorization)?.expires(authorization.expires_at)).await
    }
}
