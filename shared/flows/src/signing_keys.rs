//! The RSA keys of projects: read before a token is verified or signed with one, at most once a
//! minute in a process ([`model::session::token::rsa`]).
//!
//! Before a token is verified, nothing of the request is proved or counted yet. An attacker with
//! forged tokens therefore causes one read for each request, which costs less than the request
//! itself.

use std::sync::Arc;

use crypto::rsa_key::RsaPrivateKey;
use errors::Error;
use model::project::Project;
use model::project::signing_key::{RsaKeys, TokenAlgorithm, private_key_owner};
use model::session::token::Subject;
use model::session::token::rsa::NoUsableKey;
use wire::id::ProjectId;

use crate::App;

/// Reads the keys of a token's project if the token is signed with an RSA key that the process does
/// not know. Both may be forged.
pub async fn learn(app: &App, token: &str) -> Result<(), Error> {
    if let Some(project) = app.signer.must_learn(token, app.clock.now()) {
        read(app, &project).await?;
    }
    Ok(())
}

/// Signs an access token in the way that the project has chosen.
pub async fn sign(app: &App, project: &Project, subject: &Subject) -> Result<String, Error> {
    let (now, life) = (app.clock.now(), app.settings.access_token_life);
    if subject.algorithm(project.access_token_algorithm) == TokenAlgorithm::Es256 {
        return Ok(app.signer.sign(subject, now, life));
    }
    let keys = match app.signer.known_rsa_keys(&project.id, now) {
        Some(keys) => keys,
        None => read(app, &project.id).await?,
    };
    let key = keys.signing(now).ok_or(NoUsableKey)?;
    let text = app.sealer.open(&private_key_owner(&project.id, &key.public), &key.private)?;
    let private = RsaPrivateKey::from_text(text);
    Ok(app.signer.sign_with_rsa(subject, now, life, (key.public.id(), &private))?)
}

async fn read(app: &App, project: &ProjectId) -> Result<Arc<RsaKeys>, Error> {
    let row = app.store.rsa_keys(project).await?;
    Ok(app.signer.learn(project, row.keys, app.clock.now()))
}
