//! Malicious templates, which are rendered in a separate process.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Folder, Gateway};

/// Renders a template source as a preview for an administrator.
async fn render(gateway: &Gateway, source: &str) -> (u16, Value) {
    let (project, key) = (gateway.line("Project"), gateway.line("Admin key"));
    let headers = [("x-stack-project-id", &*project), ("x-stack-access-type", "admin"), ("x-stack-super-secret-admin-key", &*key)];
    let body = json!({ "template_html_source": source, "theme_id": false, "variables": { "x": "x".repeat(1000) } });
    let answer = gateway.send(Method::POST, "/api/v1/emails/render-email", &headers, Some(body)).await;
    (answer.status().as_u16(), answer.json().await.unwrap())
}

#[tokio::test]
async fn a_template_that_exhausts_memory_time_or_stack_fails_alone() {
    let folder = Folder::new("renderer");
    let gateway = Gateway::start(&folder.data());
    let doubling = |times: usize| format!("{{% set x = variables.x %}}{}", "{% set x = x ~ x %}".repeat(times));
    let hostile = [
        ("memory", doubling(40)),
        ("memory of a list", "{% set x = [1] %}".to_owned() + &"{% set x = [x, x, x, x] %}".repeat(30) + "{{ x|string|length }}"),
        (
            "time",
            "{% set x = variables.x * 5000 %}{% for a in range(9000) %}{% if x|replace('x', 'y') == 'z' %}{% endif %}{% endfor %}"
                .to_owned(),
        ),
        ("stack of MJML", format!("<mjml><mj-body>{}", "<mj-section><mj-column>".repeat(5000))),
        ("fuel", "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}".to_owned()),
        ("output", "{% for a in range(9000) %}{{ variables.x }}{% endfor %}".to_owned()),
    ];
    for (what, source) in hostile {
        let (status, answer) = render(&gateway, &source).await;
        assert_eq!((status, answer["code"].as_str()), (400, Some("EMAIL_RENDERING_ERROR")), "{what}: {answer}");
        let (status, answer) = render(&gateway, "<p>{{ variables.x|length }}</p>").await;
        assert_eq!((status, answer["html"].as_str()), (200, Some("<p>1000</p>")), "after {what}: {answer}");
    }
    // The gateway's process did not use the memory that its renderer was denied.
    let status = std::fs::read_to_string(format!("/proc/{}/status", gateway.process())).unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
    assert!(peak.is_none_or(|kilobytes| kilobytes < 512 * 1024), "{peak:?} kB");
}

/// The ids of the child processes of this process.
#[cfg(target_os = "linux")]
fn children(process: u32) -> Vec<String> {
    let parent = |id: &u32| {
        let status = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        status.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse::<u32>().ok()
    };
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|id| parent(id) == Some(process))
        .map(|id| id.to_string())
        .collect()
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_renderer_that_gets_no_processor_for_a_while_is_not_taken_for_a_slow_template() {
    let folder = Folder::new("starved");
    let gateway = Gateway::start(&folder.data());
    let (status, answer) = render(&gateway, "<p>first</p>").await;
    assert_eq!(status, 200, "{answer}");
    let renderers = children(gateway.process());
    let signal = |name: &str| {
        let done = std::process::Command::new("kill").arg(name).args(&renderers).status();
        assert!(done.is_ok_and(|status| status.success()), "kill {name} {renderers:?}");
    };
    signal("-STOP");
    let (rendered, ()) = tokio::join!(render(&gateway, "<p>second</p>"), async {
        tokio::time::sleep(Duration::from_millis(1_500)).await;
        signal("-CONT");
    });
    assert_eq!((rendered.0, rendered.1["html"].as_str()), (200, Some("<p>second</p>")), "{}", rendered.1);
    assert_eq!(children(gateway.process()), renderers, "the renderer was replaced");
}
