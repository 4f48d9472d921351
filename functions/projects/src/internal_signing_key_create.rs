//! `POST /api/v1/internal/signing-keys`: creates an RSA key that can sign access tokens of the
//! project. The new key is either the first key or the successor of an existing key.
//!
//! A new key is published three hours before it is used, and its predecessor stays published for
//! three hours after its last use. Verifiers that cache keys therefore never reject a token.

use api::http::TableAction::{BatchGetItem, UpdateItem};
use api::http::{CreatedJson, Need, Route};
use api::product::{Access, Admin, Input};
use crypto::rsa_key::{RsaPrivateKey, RsaPublicKey};
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError};
use flows::App;
use model::project::signing_key::{Replacement, RsaKeys, SigningKeysView, TooNew, private_key_owner};
use model::session::token::rsa::NoUsableKey;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng as _;
use rsa::pkcs8::EncodePrivateKey as _;
use store::optimistic;
use tokio::sync::Semaphore;
use utoipa::ToSchema;

pub const ROUTE: Route = Route::post("projects-internal-signing-key-create", "/api/v1/internal/signing-keys")
    .summary("Creates an RSA key that can sign access tokens")
    .needs(&[Need::WholeCore])
    .table(&[BatchGetItem, UpdateItem])
    .errors(&[ErrorCode::SigningKeyTooNew]);

/// The size of a key in bits, which is the smallest size that ring supports for signing.
const BITS: usize = 2048;

/// A process generates only one key at a time, because generating a key keeps a core busy, and many
/// administrators could otherwise take all processors from users.
static TURN: Semaphore = Semaphore::const_new(1);

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct NewSigningKey {
    /// Whether the new key replaces all existing keys immediately, for example because they have
    /// leaked. Tokens signed with the replaced keys are rejected within a minute. Users get new
    /// tokens with their refresh tokens. Default: `false`.
    #[deserr(default)]
    revoke_previous: bool,
}

pub async fn handle(
    access: Access<Admin>,
    Input { body, .. }: Input<Option<NewSigningKey>>,
) -> Result<CreatedJson<SigningKeysView>, Error> {
    let (app, project) = (&access.app, &access.project);
    let replacement = if body.is_some_and(|body| body.revoke_previous) { Replacement::Immediate } else { Replacement::Gradual };
    let turn = TURN.acquire().await;
    let now = app.clock.now();
    let mut row = app.store.rsa_keys(&project.id).await?;
    admit(&row.keys, replacement, app)?;
    let (private, public) = generate(app).await?;
    drop(turn);
    let private = app.sealer.seal(&app.entropy, &private_key_owner(&project.id, &public), private.text())?;
    let keys = optimistic!(|attempt| {
        if attempt > 0 {
            row = app.store.rsa_keys(&project.id).await?;
            admit(&row.keys, replacement, app)?;
        }
        let keys = row.keys.with(public.clone(), private.clone(), replacement, now);
        app.store.replace_rsa_keys(&project.id, &row, &keys).await?;
        Ok::<_, Error>(keys)
    })?;
    app.signer.learn(&project.id, keys.clone(), now);
    Ok(CreatedJson(keys.view(project.access_token_algorithm, now)))
}

fn admit(keys: &RsaKeys, replacement: Replacement, app: &App) -> Result<(), KnownError> {
    let admitted = keys.admit(replacement, app.clock.now());
    admitted.map_err(|TooNew { until }| KnownError::SigningKeyTooNew { replaceable_at_millis: until.as_millisecond() })
}

/// Generates a key. Generating a key takes seconds, so it does not run on the threads that handle
/// requests.
async fn generate(app: &App) -> Result<(RsaPrivateKey, RsaPublicKey), Error> {
    let mut random = ChaCha20Rng::from_seed(app.entropy.bytes());
    let generated = tokio::task::spawn_blocking(move || {
        let key = rsa::PrivateKey::new(&mut random, BITS).ok()?;
        RsaPrivateKey::parse(key.to_pkcs8_der().ok()?.as_bytes()).ok()
    });
    Ok(generated.await.ok().flatten().ok_or(NoUsableKey)?)
}
