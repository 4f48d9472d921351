//! The figures of a project whose gateway is killed while it counts, and `gateway metrics`.

use std::time::Duration;

use reqwest::Method;
use serde_json::Value;

use crate::support::{Folder, Gateway, fails, gateway, run, succeeds, variable};

/// The total users and the active users of today, once the sign-ups of all users are counted.
async fn figures(gateway: &Gateway, folder: &Folder, users: u64) -> (u64, u64) {
    let saved = std::fs::read_to_string(folder.path("data/keys.env")).unwrap();
    let (project, key) = (variable(&saved, "GATELET_PROJECT_ID"), variable(&saved, "GATELET_SUPER_SECRET_ADMIN_KEY"));
    let headers = [("x-stack-project-id", &*project), ("x-stack-access-type", "admin"), ("x-stack-super-secret-admin-key", &*key)];
    let mut found = (0, 0);
    for _ in 0..100 {
        let answer: Value = gateway.send(Method::GET, "/api/v1/internal/metrics", &headers, None).await.json().await.unwrap();
        let active = answer["daily_active_users"].as_array().unwrap().iter().map(|point| point["activity"].as_u64().unwrap()).sum();
        found = (answer["total_users"].as_u64().unwrap(), active);
        if found.0 >= users && found.1 >= users {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    found
}

#[tokio::test]
async fn a_gateway_killed_while_it_counts_counts_every_user_once() {
    let folder = Folder::new("metrics-killed");
    let start = |stop_at: Option<&str>| {
        let mut command = gateway(&["--data", &folder.data(), "--port", "0", "--limits", "off"]);
        Gateway::spawn(stop_at.iter().fold(&mut command, |command, place| command.env("GATELET_STOP_AT", place)))
    };
    for (number, place) in ["counted", "linking", "linked"].into_iter().enumerate() {
        let gateway = start(Some(&format!("{place}:1")));
        let project = gateway.line("Project");
        gateway.sign_up(&project, &format!("user{number}@example.com")).await;
        gateway.killed_where_it_stops(place).await;
    }
    let gateway = start(None);
    assert_eq!(figures(&gateway, &folder, 3).await, (3, 3));
}

#[tokio::test]
async fn a_recount_tells_the_users_of_each_project() {
    let folder = Folder::new("metrics-recount");
    let data = folder.data();
    let gateway = Gateway::start(&data);
    let project = gateway.line("Project");
    for name in ["ada", "bob"] {
        gateway.sign_up(&project, &format!("{name}@example.com")).await;
    }
    // The gateway runs meanwhile.
    let told = succeeds(&run(&["metrics", "recount", "--data", &data]));
    assert!(told.contains(&format!("project {project}: 2 users, 0 anonymous users, 0 teams\n")), "{told}");
    assert_eq!(figures(&gateway, &folder, 2).await, (2, 2));
    let unknown = "6fbbf22e-f4b2-4c6e-95a1-beab6fa41063";
    let failed = run(&["metrics", "recount", "--project", unknown, "--data", &data]);
    assert!(fails(&failed).contains(&format!("project {unknown} does not exist")), "{failed:?}");
}
