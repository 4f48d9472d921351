//! `POST /api/v1/teams`: creates a team. The creator becomes the first member, with the permissions
//! of a creator. A server can create a team without a creator.

use api::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use api::http::{CreatedJson, Route};
use api::product::{Access, Client, Input};
use axum::extract::State;
use errors::{Error, ErrorCode, KnownError, USER_REFERENCE_ERRORS};
use flows::teams::{founding, limited_to};
use flows::{App, quota};
use model::profile_image::{NewImage, Owner, Upload};
use model::project::Project;
use model::quota::Quota;
use model::team::view::TeamView;
use model::team::{NewTeam, Team};
use model::user::reference::UserRef;
use store::Label;
use store::team::{self, founding, membership};
use wire::id::{TeamId, UserId};

use crate::members::images::image_writes;

pub const ROUTE: Route = Route::post("teams-team-create", "/api/v1/teams")
    .summary("Creates a team")
    .table(&[BatchGetItem, GetItem, PutItem, UpdateItem])
    .errors(USER_REFERENCE_ERRORS)
    .errors(&[ErrorCode::UserAuthenticationRequired, ErrorCode::TeamCreationNotEnabled, ErrorCode::TooManyTeams, ErrorCode::UserNotFound]);

pub async fn handle(
    State(app): State<App>,
    access: Access<Client>,
    Input { body, .. }: Input<NewTeam>,
) -> Result<CreatedJson<TeamView>, Error> {
    let project = &access.project;
    let creator = creator(&access, body.creator_user_id)?;
    let max = quota::max(&access, Quota::Teams)?;
    if max == Some(0) {
        return Err(KnownError::TeamCreationNotEnabled.into());
    }
    let patch = body.into_patch();
    patch.check(access.level).map_err(|problems| ROUTE.schema_error(&problems))?;
    let id = TeamId::from(app.entropy.uuid());
    let mut team = Team::new(id, String::new(), app.clock.now());
    patch.apply(&mut team);
    let url = |digest: &_| Owner::from(id).url(&app.settings.api_url, &project.id, digest);
    let image = NewImage::of(&patch.profile_image_url, Upload::digest, url);
    let old = image.apply(&mut team.profile_image_url, &mut team.uploaded_image);
    let mut writes = Vec::new();
    match creator {
        Some(user) => {
            // The user is needed because the member item contains the user's sign-up time, and
            // lists are sorted by this time.
            let known = access.user.as_ref().map(|current| &current.row.user).filter(|own| own.id == user);
            let user = match known {
                Some(own) => own.clone(),
                None => app.store.user(&project.id, user).await?.ok_or(KnownError::UserNotFound)?.user,
            };
            team.founder = max.map(|_| user.id);
            writes.push(match max {
                Some(max) => founding::founds(&project.id, user.id, id, max),
                None => membership::joins(&project.id, user.id),
            });
            writes.extend(founding(&app, project, &team, &user, false)?);
        }
        None => writes.push(team::create(&project.id, &team)?),
    }
    writes.extend(image_writes(project, id, &image, old)?);
    match app.store.transact(writes).await {
        Err(store::Error::Conflict(conflict)) if conflict.is_of(Label::User) => Err(KnownError::UserNotFound.into()),
        Err(store::Error::Conflict(conflict)) if conflict.is_of(Label::Count) => Err(full(&app, project, creator, max).await?),
        result => Ok(result.map(|()| CreatedJson(TeamView::of(&team, access.level)))?),
    }
}

/// The error for a user whose quota is used up, or who was deleted in the meantime.
async fn full(app: &App, project: &Project, creator: Option<UserId>, max: Option<usize>) -> Result<Error, Error> {
    let exists = match creator {
        Some(user) => app.store.user(&project.id, user).await?.is_some(),
        None => false,
    };
    let error = if exists { KnownError::TooManyTeams { max: max.unwrap_or_default() } } else { KnownError::UserNotFound };
    Ok(error.into())
}

fn creator(access: &Access<Client>, given: Option<UserRef>) -> Result<Option<UserId>, KnownError> {
    let Some(own) = limited_to(access)? else { return given.map(|user| access.user_id(user)).transpose() };
    if !access.project.config.client_team_creation_enabled {
        return Err(KnownError::TeamCreationNotEnabled);
    }
    // For a client, the default is the client's user, because nobody could access a team without
    // members.
    given.map_or(Ok(own), |user| access.user_id(user)).map(Some)
}
