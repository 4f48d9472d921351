//! `gateway project`, `user`, `team`, `key`, `client`, `email`, `audit` and `call` on a deployment.

use reqwest::Method;
use serde_json::{Value, json};

use super::{json_of, run, signs_in, user_of_internal};
use crate::support::{Folder, Gateway, fails, succeeds, variable};

const PASSWORD: &str = "correct horse battery";

/// A deployment and a signed-in user.
struct World {
    folder: Folder,
    gateway: Gateway,
}

impl World {
    async fn new(name: &str) -> Self {
        let folder = Folder::new(name);
        let gateway = Gateway::start(&folder.data());
        let ada = user_of_internal(&gateway, "ada@example.com").await;
        signs_in(&gateway, &folder, &ada).await;
        Self { folder, gateway }
    }

    fn says(&self, arguments: &[&str]) -> String {
        succeeds(&run(&self.folder, arguments))
    }

    fn json(&self, arguments: &[&str]) -> Value {
        json_of(&self.folder, arguments)
    }

    fn fails(&self, arguments: &[&str]) -> String {
        fails(&run(&self.folder, arguments))
    }

    /// The status of a request for the list of users with the server key `key`.
    async fn lists_users(&self, project: &str, key: &str) -> u16 {
        let headers = [("x-service-project-id", project), ("x-service-access-type", "server"), ("x-service-secret-server-key", key)];
        self.gateway.send(Method::GET, "/api/v1/users", &headers, None).await.status().as_u16()
    }

    /// Signs up a user with the operation `operation`; returns the user's tokens.
    async fn becomes(&self, project: &str, operation: &str, body: Value) -> Value {
        let (status, user) = self.gateway.client(project, Method::POST, &format!("/api/v1/auth/{operation}"), Some(body)).await;
        assert_eq!(status, 200, "{user}");
        user
    }

    /// Makes any address the primary address of a user, as users can do themselves. Returns the
    /// user's id.
    async fn enters(&self, project: &str, user: &Value, address: &str) -> String {
        let headers = [
            ("x-service-project-id", project),
            ("x-service-access-type", "client"),
            ("x-service-access-token", user["access_token"].as_str().unwrap()),
            ("x-service-allow-anonymous-user", "true"),
        ];
        let body = json!({ "user_id": "me", "type": "email", "value": address, "used_for_auth": false, "is_primary": true });
        assert_eq!(self.gateway.send(Method::POST, "/api/v1/contact-channels", &headers, Some(body)).await.status(), 201);
        user["user_id"].as_str().unwrap().to_owned()
    }

    async fn signs_in(&self, project: &str, email: &str, password: &str) -> u16 {
        let body = json!({ "email": email, "password": password });
        self.gateway.client(project, Method::POST, "/api/v1/auth/password/sign-in", Some(body)).await.0
    }
}

#[tokio::test]
async fn an_owner_creates_changes_and_deletes_projects() {
    let world = World::new("administer-projects").await;
    let none = world.fails(&["user", "list"]);
    assert!(none.contains("own no project") && none.contains("gateway project create"), "{none}");

    let keys = world.says(&["project", "create", "Notes"]);
    let id = variable(&keys, "GATELET_PROJECT_ID");
    assert_eq!(world.lists_users(&id, &variable(&keys, "GATELET_SECRET_SERVER_KEY")).await, 200);
    assert_eq!(world.says(&["project", "list"]), format!("{id}  Notes\n"));
    let changed = world.says(&["project", "set", &id, "display_name=Papers", "config.sign_up_enabled=false"]);
    assert_eq!(changed, "config.sign_up_enabled: true → false\ndisplay_name: \"Notes\" → \"Papers\"\n");
    let again = world.says(&["project", "set", &id, "display_name=Papers"]);
    assert_eq!(again, "nothing has changed: the fields already have these values\n");
    let set = world.json(&["project", "set", &id, "display_name=Papers", "--json"]);
    assert_eq!((&set["display_name"], &set["config"]["sign_up_enabled"]), (&json!("Papers"), &json!(false)));
    assert_eq!(world.json(&["project", "show", &id]), set);
    let more = world.says(&["project", "keys", &id]);
    assert_eq!(world.lists_users(&id, &variable(&more, "GATELET_SECRET_SERVER_KEY")).await, 200);
    assert_ne!(more, keys);

    assert_eq!(world.json(&["project", "list", "--json"]), json!([{ "id": id, "display_name": "Papers" }]));
    let second = variable(&world.says(&["project", "create", "Letters"]), "GATELET_PROJECT_ID");
    assert!(world.fails(&["user", "list"]).contains("own 2 projects: name one with --project"));
    assert!(world.fails(&["project", "delete", &second]).contains("nothing was deleted"));
    assert!(world.fails(&["project", "delete", &second, "--confirm", &id]).contains("nothing was deleted"));
    world.says(&["project", "delete", &second, "--confirm", &second]);
    assert_eq!(world.says(&["project", "list"]), format!("{id}  Papers\n"));
    assert!(world.fails(&["project", "show", &second]).contains("none of your teams owns project"));
}

#[tokio::test]
async fn projects_of_others_are_out_of_reach() {
    let world = World::new("administer-foreign").await;
    let foreign = world.gateway.line("Project");
    for command in
        [["user", "list"], ["team", "list"], ["key", "list"], ["client", "list"], ["email", "list"], ["audit", "list"], ["audit", "export"]]
    {
        let said = world.fails(&[&command[..], &["--project", &foreign]].concat());
        assert!(said.contains(&format!("none of your teams owns project {foreign}")), "{said}");
        let said = world.fails(&[&command[..], &["--project", "internal"]].concat());
        assert!(said.contains("the project `internal` cannot be administered over the API"), "{said}");
    }
    assert!(world.fails(&["project", "delete", &foreign, "--confirm", &foreign]).contains("none of your teams owns"));
    assert!(world.fails(&["project", "set", &foreign, "display_name=Mine"]).contains("none of your teams owns"));
    assert!(world.fails(&["user", "create", "eve@example.com", "--project", &foreign]).contains("none of your teams owns"));
    assert!(world.fails(&["user", "list", "--project", "../internal"]).contains("is not a project id"));
}

#[tokio::test]
async fn oauth_clients_are_managed() {
    let world = World::new("administer-clients").await;
    world.says(&["project", "create", "Notes"]);
    let uri = "redirect_uris=https://notes.example.com/callback,http://127.0.0.1/callback";
    let made = world.says(&["client", "create", "name=Notes", "client_type=confidential", uri]);
    let (id, secret) = (variable(&made, "OAUTH_CLIENT_ID"), variable(&made, "OAUTH_CLIENT_SECRET"));
    let shown = world.json(&["client", "show", &id]);
    assert_eq!(shown["redirect_uris"], json!(["https://notes.example.com/callback", "http://127.0.0.1/callback"]));
    let list = world.says(&["client", "list"]);
    assert!(list.starts_with("ID ") && list.contains("Notes") && list.contains("/callback and 1 more"), "{list}");
    let changed = world.says(&["client", "set", &id, "name=Papers", "scopes=openid,email"]);
    assert!(changed.contains("name: \"Notes\" → \"Papers\"\n"), "{changed}");
    assert!(!changed.contains("updated_at"), "{changed}");
    let rotated = variable(&world.says(&["client", "rotate-secret", &id, "--hours", "0"]), "OAUTH_CLIENT_SECRET");
    assert_ne!(rotated, secret);
    assert_eq!(world.json(&["client", "show", &id])["secrets"].as_array().unwrap().len(), 1);
    let public = world.says(&["client", "create", "name=Desk", "client_type=public", "redirect_uris=http://127.0.0.1/cb"]);
    assert!(!public.contains("SECRET"), "{public}");
    let refused = world.fails(&["client", "create", "name=Evil", "client_type=public", "redirect_uris=http://evil.example/cb"]);
    assert!(refused.contains("redirect_uris"), "{refused}");
    assert!(world.fails(&["client", "show", "../api-keys"]).contains("is not the id of an OAuth client"));
    assert!(world.fails(&["client", "delete", &id]).contains("nothing was deleted"));
    world.says(&["client", "delete", &id, "--confirm", &id]);
    assert!(world.fails(&["client", "show", &id]).contains("OAuth client"));
}

#[tokio::test]
async fn users_and_teams_are_managed() {
    let world = World::new("administer-users").await;
    let project = variable(&world.says(&["project", "create", "Notes"]), "GATELET_PROJECT_ID");
    let made = world.says(&["user", "create", "Grace@example.com"]);
    let password = made.lines().find_map(|line| line.strip_prefix("password: ")).unwrap();
    assert_eq!(world.signs_in(&project, "grace@example.com", password).await, 200);
    let grace = world.json(&["user", "show", "GRACE@example.com"]);
    let id = grace["id"].as_str().unwrap();
    assert_eq!(world.json(&["user", "show", id])["primary_email"], "grace@example.com");
    assert_eq!(world.json(&["user", "set", id, "display_name=Grace Hopper", "--json"])["display_name"], "Grace Hopper");
    let secret = world.fails(&["user", "set", id, "password=correct horse"]);
    assert!(secret.contains("does not belong on a command line"), "{secret}");
    let list = world.says(&["user", "list"]);
    assert!(list.starts_with("ID ") && list.contains(&format!("{id}  grace@example.com  Grace Hopper")), "{list}");
    world.says(&["user", "create", "joan@example.com"]);
    assert_eq!(world.json(&["user", "list", "--query", "hopper", "--json"]).as_array().unwrap().len(), 1);
    let first = run(&world.folder, &["user", "list", "--limit", "1", "--newest"]);
    assert!(succeeds(&first).contains("joan@example.com") && succeeds(&first).lines().count() == 2);
    assert!(String::from_utf8(first.stderr).unwrap().contains("--limit 2"));

    let team = world.json(&["team", "create", "Compilers", "--json"]);
    let team = team["id"].as_str().unwrap();
    world.says(&["team", "add", team, "grace@example.com"]);
    assert_eq!(world.json(&["user", "list", "--team", team, "--json"])[0]["id"], id);
    assert!(world.says(&["team", "list", "--query", "compil"]).contains(&format!("{team}  Compilers")));
    world.says(&["team", "remove", team, id]);
    assert_eq!(world.json(&["user", "list", "--team", team, "--json"]), json!([]));
    assert!(world.fails(&["team", "delete", team]).contains("nothing was deleted"));
    world.says(&["team", "delete", team, "--confirm", team]);
    assert!(!world.says(&["team", "list"]).contains(team));

    assert!(world.fails(&["user", "delete", id]).contains("nothing was deleted"));
    world.says(&["user", "delete", "grace@example.com", "--confirm", id]);
    assert!(world.fails(&["user", "show", "grace@example.com"]).contains("no user of"));
    assert_eq!(world.signs_in(&project, "grace@example.com", password).await, 400);
}

#[tokio::test]
async fn an_unverified_address_names_nobody() {
    let world = World::new("administer-strangers").await;
    let project = variable(&world.says(&["project", "create", "Notes"]), "GATELET_PROJECT_ID");
    let team = world.json(&["team", "create", "Compilers", "--json"]);
    let team = team["id"].as_str().unwrap();
    // Eve has signed up first, and enters Grace's address. Mallory signs up with Joan's address.
    let eve = world.becomes(&project, "password/sign-up", json!({ "email": "eve@example.com", "password": PASSWORD })).await;
    let eve = world.enters(&project, &eve, "grace@example.com").await;
    assert!(world.fails(&["team", "add", team, "grace@example.com"]).contains(&eve), "the candidate is named");
    world.says(&["user", "create", "grace@example.com"]);
    let mallory = world.becomes(&project, "password/sign-up", json!({ "email": "joan@example.com", "password": PASSWORD })).await;
    let mallory = mallory["user_id"].as_str().unwrap();
    world.says(&["project", "set", &project, "config.anonymous_creation_enabled=true"]);
    let anonymous = world.becomes(&project, "anonymous/sign-up", json!({})).await;
    let anonymous = world.enters(&project, &anonymous, "alan@example.com").await;

    world.says(&["team", "add", team, "grace@example.com"]);
    let member = &world.json(&["user", "list", "--team", team, "--json"])[0];
    assert_eq!((&member["primary_email"], &member["primary_email_verified"]), (&json!("grace@example.com"), &json!(true)));
    let grace = member["id"].as_str().unwrap();
    for command in [&["team", "add", team][..], &["user", "show"], &["user", "delete"]] {
        let said = world.fails(&[command, &["Joan@example.com"]].concat());
        assert!(said.contains("it may not be theirs") && said.contains(mallory), "{said}");
    }
    let said = world.fails(&["user", "show", "alan@example.com"]);
    assert!(said.contains("no user of") && !said.contains(&anonymous), "{said}");
    assert_eq!(world.json(&["user", "show", &anonymous])["primary_email"], "alan@example.com");

    world.says(&["user", "set", mallory, "primary_email_verified=true"]);
    assert_eq!(world.json(&["user", "show", "joan@example.com"])["id"], mallory);
    world.says(&["user", "set", &eve, "primary_email_verified=true"]);
    let said = world.fails(&["team", "remove", team, "grace@example.com"]);
    assert!(said.contains("several users") && said.contains(&eve) && said.contains(grace), "{said}");
    assert!(world.fails(&["user", "show", "grace"]).contains("neither a user id nor an email address"));
}

#[tokio::test]
async fn keys_are_created_listed_and_revoked() {
    let world = World::new("administer-keys").await;
    let project = variable(&world.says(&["project", "create", "Notes"]), "GATELET_PROJECT_ID");
    let made = world.says(&["key", "create", "Nightly export", "--permission", "users:read", "--days", "30"]);
    let key = variable(&made, "GATELET_SECRET_SERVER_KEY");
    assert!(!made.contains("CLIENT_KEY") && !made.contains("ADMIN_KEY"), "{made}");
    assert_eq!(world.lists_users(&project, &key).await, 200);
    let list = world.says(&["key", "list"]);
    let line = list.lines().find(|line| line.contains("Nightly export")).unwrap();
    assert!(
        line.contains(" users:read ") && line.ends_with(" valid") && line.contains(&key[key.len() - 4..]) && !list.contains(&key),
        "{list}"
    );
    let id = line.split(' ').next().unwrap();
    world.says(&["key", "revoke", id]);
    assert_eq!(world.lists_users(&project, &key).await, 401);
    assert!(world.says(&["key", "list"]).lines().any(|line| line.starts_with(id) && line.ends_with("revoked")));
    assert!(world.fails(&["key", "create", "Nothing"]).contains("name the keys to create"));
    assert!(world.fails(&["key", "create", "Nothing", "--permission", "users:fly"]).contains("permissions"));
}

#[tokio::test]
async fn emails_and_the_audit_log_are_read() {
    let world = World::new("administer-audit").await;
    let project = variable(&world.says(&["project", "create", "Notes"]), "GATELET_PROJECT_ID");
    world.says(&["user", "create", "grace@example.com"]);
    assert_eq!(world.signs_in(&project, "grace@example.com", PASSWORD).await, 400);
    let at = "4102444800000";
    let template = json!({ "all_users": true, "subject": "News", "html": "<p>News</p>", "scheduled_at_millis": 4_102_444_800_000_i64 });
    world.says(&["call", "post", "/emails/send-email", "--project", &project, "--body", &template.to_string()]);
    let emails = world.json(&["email", "list", "--json"]);
    let id = emails[0]["id"].as_str().unwrap();
    assert_eq!(emails[0]["scheduled_at_millis"].to_string(), at);
    assert!(world.says(&["email", "list"]).contains("News"));
    assert_eq!(world.json(&["email", "cancel", id, "--json"])["status"], "skipped");
    assert_eq!(world.json(&["email", "show", id])["status"], "skipped");

    let log = world.says(&["audit", "list", "--operation", "users-user-create"]);
    assert!(log.lines().count() == 2 && log.contains("users-user-create") && log.contains("operator "), "{log}");
    assert!(world.says(&["audit", "list", "--user", "grace@example.com"]).contains("users-user-create"));
    let exported = world.says(&["audit", "export"]);
    let entries: Vec<Value> = exported.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(Some(&entries.len()), Some(&world.json(&["audit", "list", "--limit", "1000", "--json"]).as_array().unwrap().len()));
    assert!(entries.iter().any(|entry| entry["operation"] == "emails-outbox-update"), "{exported}");
    let stored = world.says(&["audit", "export", "--project", &project, "--data", &world.folder.data()]);
    assert_eq!(stored.lines().count(), entries.len(), "the command on the data writes the same entries");
}
