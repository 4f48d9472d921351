//! `GET /api/v1/auth/challenge`: issues a proof-of-work challenge in the form that the ALTCHA
//! widget fetches.
//!
//! The widget sends no headers, so the query names the project. Challenges are signed instead of
//! being stored; only the number of requests is stored. The more requests the caller or the project
//! makes above the usual rate, the harder the challenge.

use api::http::TableAction::{BatchGetItem, UpdateItem};
use api::http::client::Caller;
use api::http::{Json, Route};
use api::product::Input;
use api::product::input::IgnoredBody;
use axum::extract::State;
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError};
use flows::App;
use flows::bot_challenge::{excess, tallies};
use flows::limits::{self, RequestCount};
use model::bot_challenge::ChallengeProvider;
use model::bot_challenge::altcha::{Challenge, Work};
use model::limit::Limit;
use store::keys::project_key;
use store::project::ProjectRow;
use utoipa::ToSchema;
use wire::id::ProjectId;

pub const ROUTE: Route = Route::get("auth-challenge-create", "/api/v1/auth/challenge")
    .summary("Creates a proof-of-work challenge for the ALTCHA widget")
    .limit(Limit::Challenge)
    .leaves_no_trail("a challenge carries its own signature, so only the request count is stored")
    .table(&[BatchGetItem, UpdateItem])
    .errors(&[ErrorCode::ProjectNotFound, ErrorCode::BotChallengeNotEnabled]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct ChallengeQuery {
    /// The project's id.
    project_id: String,
}

/// Returns a challenge that can be used for one request within five minutes. The widget sends the
/// solution as base64 of `{"challenge": …, "solution": {"counter": …}}` in `bot_challenge_token`.
pub async fn handle(
    State(app): State<App>,
    caller: Caller,
    Input { query, .. }: Input<IgnoredBody, ChallengeQuery>,
) -> Result<Json<Challenge>, Error> {
    let unknown = || KnownError::ProjectNotFound { project_id: query.project_id.clone() };
    let id = ProjectId::parse(&query.project_id).map_err(|_| unknown())?;
    let key = project_key(&id);
    // The operation has no `Access` that would count the request. It therefore counts the request
    // itself: during the read if this process knows the project, and otherwise after the read.
    let counting = RequestCount::by_place(&app, &id, Limit::Challenge, &caller.place);
    let (early, mut items) = futures_util::try_join!(counting.early(), app.store.get_many(counting.keys().chain([key.clone()])))?;
    let Some(row) = items.take(&key).map(ProjectRow::of).transpose()? else {
        // A request that names an unknown project counts towards a separate limit.
        limits::unproved(&app, None, &caller.place).await?;
        return Err(unknown().into());
    };
    counting.settle(early, &items).await?;
    let project = row.project;
    if project.config.bot_challenge.provider != ChallengeProvider::Altcha {
        return Err(KnownError::BotChallengeNotEnabled.into());
    }
    let work = Work::of(excess(&tallies(&app, &project, &caller.place).await?));
    let challenge = Challenge::new(&app.challenge_key, &app.entropy, &id, work, app.clock.now());
    // The error means that the function does not have the deployment secret, which challenges
    // require.
    Ok(Json(challenge.ok_or(crypto::seal::Error)?))
}
