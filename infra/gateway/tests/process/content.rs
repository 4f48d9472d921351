//! `gateway content`.

use serde_json::Value;

use crate::support::{Folder, Gateway, fails, run, succeeds};

async fn app_ids(gateway: &Gateway) -> Vec<String> {
    let apps: Value = gateway.get("/api/v1/apps").await.json().await.unwrap();
    apps["data"].as_array().unwrap().iter().map(|app| app["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_folder_replaces_the_sample_and_an_invalid_one_changes_nothing() {
    let folder = Folder::new("content");
    let gateway = Gateway::start(&folder.data());
    let sample = app_ids(&gateway).await;
    assert!(!sample.is_empty());
    let publish = || run(&["content", "publish", &folder.path("site"), "--data", &folder.data(), "--site-url", "https://notes.example"]);

    // After an error, the sample content is still published.
    assert!(fails(&publish()).contains("site"));
    folder.write("site/site.toml", "name = ");
    assert!(fails(&publish()).contains("site.toml:1"));
    folder.write("site/site.toml", &std::fs::read_to_string(sample_path("site.toml")).unwrap());
    folder.write("site/apps.toml", "[[app]\n");
    assert!(fails(&publish()).contains("apps.toml:1"));
    folder.write("site/apps.toml", &std::fs::read_to_string(sample_path("apps.toml")).unwrap());
    folder.write("site/blog/wrong.md", "no front matter\n");
    assert!(fails(&publish()).contains("blog/wrong.md"));
    assert_eq!(app_ids(&gateway).await, sample);

    std::fs::remove_file(folder.path("site/blog/wrong.md")).unwrap();
    let said = succeeds(&publish());
    assert!(said.contains("0 posts at https://notes.example"), "{said}");
    let posts: Value = gateway.get("/api/v1/blog-posts").await.json().await.unwrap();
    assert_eq!(posts["data"], serde_json::json!([]));
    let site: Value = gateway.get("/api/v1/site").await.json().await.unwrap();
    assert_eq!(site["data"]["url"], "https://notes.example");

    // The sample content is not published again at the next start.
    drop(gateway);
    let again = Gateway::start(&folder.data());
    let posts: Value = again.get("/api/v1/blog-posts").await.json().await.unwrap();
    assert_eq!(posts["data"], serde_json::json!([]));
}

#[tokio::test]
async fn published_urls_follow_the_port_of_the_gateway() {
    let folder = Folder::new("content-port");
    let sample = format!("{}/sample", env!("CARGO_MANIFEST_DIR"));
    for publish in [false, true, false] {
        let gateway = Gateway::start(&folder.data());
        if publish {
            let said = succeeds(&run(&["content", "publish", &sample, "--data", &folder.data()]));
            assert!(said.contains("Nothing has changed since publication 1"), "it is the sample: {said}");
        }
        let answer = async |path: &str| gateway.get(path).await.json::<Value>().await.unwrap()["data"].clone();
        let (site, apps, posts) = (answer("/api/v1/site").await, answer("/api/v1/apps").await, answer("/api/v1/blog-posts").await);
        assert_eq!(site["url"], gateway.url);
        let below = |url: &Value| url.as_str().unwrap().starts_with(&format!("{}/", gateway.url));
        assert!(site["resources"].as_object().unwrap().values().any(below), "{site}");
        let own = apps.as_array().unwrap().iter().filter(|app| below(&app["url"])).count();
        assert!(own > 0 && posts.as_array().unwrap().iter().all(|post| below(&post["url"])), "{apps} {posts}");
        let one = answer(&format!("/api/v1/apps/{}", apps[0]["id"].as_str().unwrap())).await;
        assert_eq!(one, apps[0]);
    }
}

fn sample_path(name: &str) -> String {
    format!("{}/sample/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn publishing_before_the_first_start_fails() {
    let folder = Folder::new("content-none");
    let sample = format!("{}/sample", env!("CARGO_MANIFEST_DIR"));
    assert!(fails(&run(&["content", "publish", &sample, "--data", &folder.data()])).contains(&folder.data()));
    let wrong = run(&["content", "publish", &sample, "--data", &folder.data(), "--site-url", "nowhere"]);
    assert!(fails(&wrong).contains("GATELET_SITE_URL"));
}

#[tokio::test]
async fn a_publication_is_taken_back_by_one_command() {
    let folder = Folder::new("content-rollback");
    let gateway = Gateway::start(&folder.data());
    let data = folder.data();
    let content = |command: &[&str]| run(&[&["content"], command, &["--data", &data]].concat());
    let site = folder.path("site");
    folder.write("site/site.toml", "name = \"First\"\ndescription = \"The first\"\n");
    folder.write("site/blog/one.md", "+++\ntitle = \"One\"\npublished_at = 2026-01-02\n+++\nThe first text.\n");
    folder.write("site/blog/later.md", "+++\ntitle = \"Later\"\npublished_at = 9999-01-02\n+++\nNot yet.\n");
    folder.write("site/blog/draft.md", "+++\ntitle = \"Draft\"\npublished_at = 2026-01-02\ndraft = true\n+++\nUnfinished.\n");
    let said = succeeds(&content(&["publish", &site]));
    assert!(said.contains("2 posts") && said.contains("(1 of the posts will appear later): publication 2"), "{said}");
    assert!(succeeds(&content(&["publish", &site])).contains("Nothing has changed since publication 2"));
    let posts = gateway.get("/api/v1/blog-posts").await.json::<Value>().await.unwrap()["data"].clone();
    assert_eq!((posts.as_array().unwrap().len(), &posts[0]["slug"]), (1, &"one".into()));
    for slug in ["later", "draft"] {
        assert_eq!(gateway.get(&format!("/blog/{slug}")).await.status(), 404, "{slug}");
    }

    std::fs::remove_file(folder.path("site/blog/one.md")).unwrap();
    folder.write("site/site.toml", "name = \"Second\"\ndescription = \"The second\"\n");
    assert!(succeeds(&content(&["publish", &site])).contains("publication 3"));
    assert_eq!(gateway.get("/blog/one").await.status(), 404);

    assert!(succeeds(&content(&["rollback"])).starts_with("Restored publication 2 from "));
    assert!(gateway.get("/blog/one.md").await.text().await.unwrap().ends_with("The first text.\n"));
    let site = gateway.get("/api/v1/site").await.json::<Value>().await.unwrap();
    assert_eq!(site["data"]["name"], "First");
    let history = succeeds(&content(&["history"]));
    let shown: Vec<_> = history.lines().map(|line| (line.trim_start().chars().next(), line.ends_with("shown"))).collect();
    assert_eq!(shown, [(Some('3'), false), (Some('2'), true), (Some('1'), false)], "{history}");

    assert!(succeeds(&content(&["rollback"])).starts_with("Restored publication 1 from "), "the sample");
    assert!(fails(&content(&["rollback"])).contains("no earlier publication"));
    assert!(fails(&content(&["rollback", "--to", "9"])).contains("gateway content history"));
    assert!(succeeds(&content(&["rollback", "--to", "3"])).starts_with("Restored publication 3 from "));
}
