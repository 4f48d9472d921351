//! Access tokens of machines, which replace a server key.

use crypto::digest::Digest;
use flows::App;
use wire::id::ProjectId;

/// The digest under which the key of a request is looked up. A machine's token contains the digest
/// of its key. The key is therefore read, and its revocation, expiry and permissions apply, as if
/// the key itself had been sent. A token that is not valid for the project is treated as a key that
/// does not exist.
pub(crate) fn key_digest(key: &str, project: &ProjectId, app: &App) -> Digest {
    let is_token = key.starts_with("eyJ");
    let claims = is_token.then(|| app.signer.verify_machine(key, project, app.clock.now()).ok()).flatten();
    claims.map_or_else(|| Digest::of(key), |claims| claims.key)
}
