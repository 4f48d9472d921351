//! Users of the project `internal`, and their projects.

use gateway::keys::Keys;
use serde_json::{Value, json};
use support::{Answer, Caller, SignedInUser, TestApp};

pub(crate) const PROJECTS: &str = "/api/v1/internal/projects";

/// A user of the project `internal` who has a team.
pub(crate) struct Owner {
    pub(crate) user: SignedInUser,
    pub(crate) team: String,
    client: Caller,
}

impl Owner {
    /// Signs up in the project `internal`, where the user gets a personal team.
    pub(crate) async fn sign_up(app: &TestApp, internal: &Keys, email: &str) -> Self {
        let body = json!({ "email": email, "password": "correct horse battery" });
        let answer = app.client_of(internal).post("/api/v1/auth/password/sign-up", body).await;
        assert_eq!(answer.status(), 200, "{}", answer.text());
        Self::find(app, internal, SignedInUser::of(email, &answer.json())).await
    }

    async fn find(app: &TestApp, internal: &Keys, user: SignedInUser) -> Self {
        let client = app.client_of(internal).with("x-stack-access-token", &user.access_token);
        let teams = client.get("/api/v1/teams?user_id=me").await.json();
        let team = teams["items"][0]["id"].as_str().unwrap().to_owned();
        Self { user, team, client }
    }

    /// A caller with the user's session in the project `internal`.
    pub(crate) fn caller(&self) -> Caller {
        self.client.clone()
    }

    pub(crate) async fn create(&self, name: &str) -> Answer {
        self.client.post(PROJECTS, json!({ "display_name": name, "owner_team_id": self.team })).await
    }

    /// Creates a project, and returns its id.
    pub(crate) async fn project(&self, name: &str) -> String {
        let answer = self.create(name).await;
        assert_eq!(answer.status(), 201, "{}", answer.text());
        answer.json()["id"].as_str().unwrap().to_owned()
    }

    /// The names of the projects that the user owns.
    pub(crate) async fn owned(&self) -> Vec<String> {
        let answer = self.client.get(PROJECTS).await;
        assert_eq!(answer.status(), 200, "{}", answer.text());
        let items = answer.json()["items"].as_array().unwrap().clone();
        items.iter().map(|project| project["display_name"].as_str().unwrap().to_owned()).collect()
    }
}

/// A caller with an admin access token for a project.
pub(crate) fn with_token(app: &TestApp, project: &str, level: &str, token: &str) -> Caller {
    app.anonymous().with("x-stack-project-id", project).with("x-stack-access-type", level).with("x-stack-admin-access-token", token)
}

/// Creates keys of a project for the project's owner.
pub(crate) async fn keys_of(app: &TestApp, project: &str, token: &str) -> Value {
    let body = json!({
        "description": "all", "expires_at_millis": app.now().as_millisecond() + 3_600_000,
        "has_publishable_client_key": true, "has_secret_server_key": true, "has_super_secret_admin_key": true,
    });
    let answer = with_token(app, project, "admin", token).post("/api/v1/internal/api-keys", body).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    answer.json()
}
