//! `GET /api/v1/internal/audit-log?format=jsonl`.

use serde_json::Value;
use support::{Answer, TestApp};

use super::{AUDIT_LOG, each, entries, rename};

fn lines(answer: &Answer) -> Vec<Value> {
    assert_eq!((answer.status(), answer.header("content-type")), (200, Some("application/jsonl")), "{}", answer.text());
    assert!(answer.text().is_empty() || answer.text().ends_with('\n'));
    answer.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The URL of the next page, from the header. `None` on the last page.
fn next(answer: &Answer) -> Option<String> {
    let link = answer.header("link")?;
    Some(link.strip_prefix('<').unwrap().strip_suffix(">; rel=\"next\"").unwrap().to_owned())
}

#[tokio::test]
async fn lines_are_the_entries_of_the_pages_with_a_link_to_the_next() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    for name in ["A", "B", "C", "D"] {
        app.advance(super::DAY);
        rename(&app, &ada, name).await;
    }
    for filter in ["", "&operation=users-user-update", &format!("&user_id={}&from=2026-01-02T00:00:00Z", ada.user_id)] {
        let (mut found, mut path) = (Vec::new(), Some(format!("{AUDIT_LOG}?format=jsonl&limit=2{filter}")));
        while let Some(this) = path {
            let answer = app.admin().get(&this).await;
            found.extend(lines(&answer));
            path = next(&answer);
        }
        let expected = entries(&app, &filter.replacen('&', "", 1)).await;
        assert!(found.len() >= 4);
        assert_eq!(found, expected, "{filter}");
    }
}

#[tokio::test]
async fn an_empty_export_has_no_lines() {
    let app = TestApp::start().await;
    let answer = app.admin().get(&format!("{AUDIT_LOG}?format=jsonl")).await;
    assert_eq!((lines(&answer), next(&answer)), (Vec::new(), None));
    assert!(answer.header("access-control-expose-headers").unwrap().split(", ").any(|name| name == "link"));
    assert_eq!(each(&entries(&app, "format=json").await, "id").len(), 0);
}
