//! The client credentials grant for machines (RFC 6749 §4.4), which exchanges a server key for an
//! access token.

use crypto::digest::Digest;
use errors::{Error, KnownError};
use flows::context::Scope;
use flows::limits;
use model::limit::Rule;
use model::project::{ApiKey, KeyKind};
use model::session::token::machine::Machine;
use secrecy::{ExposeSecret as _, SecretString};

use crate::oauth::tokens::Tokens;

/// The scope of a server key without limits.
const UNLIMITED: &str = "server";

/// Exchanges a server key. A missing or wrong key counts towards a limit and causes the error
/// `wrong`.
pub(crate) async fn exchange(
    Scope { app, project, place }: Scope<'_>,
    secret: Option<&SecretString>,
    key: Option<&ApiKey>,
    wrong: impl Fn() -> KnownError,
) -> Result<Tokens, Error> {
    let opens = key.filter(|key| key.opens(KeyKind::SecretServer, app.clock.now()));
    let Some((secret, key)) = secret.zip(opens) else {
        limits::unproved(app, Some(&project.id), place).await?;
        return Err(wrong().into());
    };
    limits::by_secret(app, &project.id, Rule::Token, secret).await?;
    let scope = key
        .permissions
        .as_ref()
        .map_or_else(|| UNLIMITED.to_owned(), |permissions| permissions.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "));
    let (digest, life) = (Digest::of(secret.expose_secret()), app.settings.access_token_life);
    let machine = Machine { project: &project.id, set: key.set_id.into(), key: digest, scope: scope.clone() };
    let token = app.signer.sign_machine(machine, app.clock.now(), life);
    Ok(Tokens::from_machine(token, scope, life))
}
