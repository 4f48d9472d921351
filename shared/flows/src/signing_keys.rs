//! The RSA keys of projects. A process reads a project's RSA keys before it verifies or signs a
//! token with one, at most once a minute ([`model::session::token::rsa`]).
//!
//! Before a token is verified, no part of the request is proved or counted. An attacker with forged
//! tokens therefore causes one read for each request, which costs less than the request itself.

use std::sync::Arc;

use crypto::rsa_key::RsaPrivateKey;
use errors::Error;
use model::project::Project;
use model::project::signing_key::{RsaKeys, TokenAlgorithm, private_key_owner};
use model::session::token::client::TokenType;
use model::session::token::rsa::NoUsableKey;
use model::session::token::{Signer, Subject};
use serde::Serialize;
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

/// Reads the keys of this project if the token may be signed with an RSA key that the process does
/// not know.
pub async fn learn_for(app: &App, project: &ProjectId, token: &str) -> Result<(), Error> {
    let now = app.clock.now();
    let Some(kid) = Signer::rsa_key_of(token) else { return Ok(()) };
    let is_known = app.signer.known_rsa_keys(project, now).is_some_and(|keys| keys.verifying(&kid, now).is_some());
    if !is_known {
        read(app, project).await?;
    }
    Ok(())
}

/// Whether the project has an RSA key that signs.
pub async fn has_rsa_key(app: &App, project: &ProjectId) -> Result<bool, Error> {
    Ok(app.store.rsa_keys(project).await?.keys.signing(app.clock.now()).is_some())
}

/// Signs an access token in the way that the project has chosen.
pub async fn sign(app: &App, project: &Project, subject: &Subject) -> Result<String, Error> {
    let (now, life) = (app.clock.now(), app.settings.access_token_life);
    if subject.algorithm(project.access_token_algorithm) == TokenAlgorithm::Es256 {
        return Ok(app.signer.sign(subject, now, life));
    }
    let (kid, private) = rsa_key(app, project).await?;
    Ok(app.signer.sign_with_rsa(subject, now, life, (kid, &private))?)
}

/// Signs claims for an OAuth client with this algorithm.
pub async fn sign_claims<C: Serialize>(
    app: &App,
    project: &Project,
    algorithm: TokenAlgorithm,
    token_type: TokenType,
    claims: &C,
) -> Result<String, Error> {
    if algorithm == TokenAlgorithm::Es256 {
        return Ok(app.signer.sign_claims(&project.id, token_type, claims));
    }
    let (kid, private) = rsa_key(app, project).await?;
    Ok(Signer::sign_claims_with_rsa(token_type, claims, kid, &private)?)
}

/// The RSA key that currently signs, with its id.
async fn rsa_key(app: &App, project: &Project) -> Result<(String, RsaPrivateKey), Error> {
    let now = app.clock.now();
    let keys = match app.signer.known_rsa_keys(&project.id, now) {
        Some(keys) => keys,
        None => read(app, &project.id).await?,
    };
    let key = keys.signing(now).ok_or(NoUsableKey)?;
    let text = app.sealer.open(&private_key_owner(&project.id, &key.public), &key.private)?;
    Ok((key.public.id(), RsaPrivateKey::from_text(text)))
}

async fn read(app: &App, project: &ProjectId) -> Result<Arc<RsaKeys>, Error> {
    let row = app.store.rsa_keys(project).await?;
    Ok(app.signer.learn(project, row.keys, app.clock.now()))
}
