//! Users who are active.

use jiff::Timestamp;
use model::project::Project;
use model::user::User;

use crate::App;

/// Counts a user who is active for the first time on this day. An error is only logged, because the
/// next refresh counts the user.
pub async fn note(app: &App, project: &Project, user: &User, now: Timestamp) {
    if let Err(error) = app.store.count_active(&project.id, std::slice::from_ref(user), now).await {
        tracing::warn!(%error, "an active user was not counted");
    }
}
