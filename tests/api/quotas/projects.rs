//! The maximum number of projects of a team in the project `internal`.

use futures_util::future::join_all;
use model::quota::Quota;
use serde_json::json;
use support::TestApp;

use super::count;
use crate::auth::assert_error;
use crate::owners::{Owner, PROJECTS, with_token};

const MAX: usize = Quota::Projects.max();

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_team_owns_100_projects_and_deleting_one_makes_room() {
    let app = TestApp::start().await;
    let internal = app.internal_project().await;
    let ada = Owner::sign_up(&app, &internal, "ada@example.com").await;
    let answers = join_all((0..MAX + 5).map(|_| ada.create("Notes"))).await;
    assert_eq!((count(&answers, 201), count(&answers, 400)), (MAX, 5));
    assert_error(&ada.create("One more").await, 400, "TOO_MANY_PROJECTS");
    let first = answers.iter().find(|answer| answer.status() == 201).unwrap().json()["id"].as_str().unwrap().to_owned();
    let admin = with_token(&app, &first, "admin", &ada.user.access_token);
    assert_eq!(admin.delete("/api/v1/internal/projects/current").await.status(), 200);
    let last = ada.project("Instead").await;
    assert_error(&ada.create("One more").await, 400, "TOO_MANY_PROJECTS");

    // Another team of the owner has room. After the transfer to the other team, another project
    // takes the free place, so the transferred project cannot return.
    let other = ada.caller().post("/api/v1/teams", json!({ "display_name": "Others" })).await.json()["id"].clone();
    let transfer = async |project: &str, team: &str| {
        let body = json!({ "project_id": project, "new_team_id": team });
        ada.caller().post(&format!("{PROJECTS}/transfer"), body).await
    };
    assert_eq!(transfer(&last, other.as_str().unwrap()).await.status(), 200);
    ada.project("In its place").await;
    assert_error(&transfer(&last, &ada.team).await, 400, "TOO_MANY_PROJECTS");
}
