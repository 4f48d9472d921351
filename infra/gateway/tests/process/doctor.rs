//! Runs `gateway doctor` on the table and the functions of a gateway, as if they were a deployment.

use std::process::Output;

use crate::support::{Gateway, end_of, fails, gateway, succeeds};

const SECRET: &str = "a deployment secret of this test alone";

fn deployment() -> Gateway {
    let mut command = gateway(&["--memory", "--listen", "127.0.0.1:0", "--dynamodb-port", "0"]);
    Gateway::spawn(command.env("GATELET_SECRET", SECRET))
}

/// Runs `gateway doctor` with the environment variables in `settings`.
fn doctor(deployment: &Gateway, table: &str, settings: &[(&str, &str)]) -> Output {
    let mut command = gateway(&["doctor", "--table", table]);
    command.envs(deployment.table_variables()).env("GATELET_API_URL", &deployment.url).env("GATELET_SECRET", SECRET);
    end_of(command.envs(settings.iter().copied()))
}

fn lines<'a>(report: &'a str, level: &str) -> Vec<&'a str> {
    report.lines().filter(|line| line.split_whitespace().next() == Some(level)).collect()
}

#[test]
fn a_working_deployment_passes_with_warnings_for_unknowns() {
    let deployment = deployment();
    let report = succeeds(&doctor(&deployment, "gatelet", &[]));
    assert_eq!(lines(&report, "fail"), Vec::<&str>::new(), "{report}");
    let ok = lines(&report, "ok").join("\n");
    for found in
        ["gatelet exists", "gsi1", "gsi2", "stream", "items expire by ttl", "no email or broadcast is overdue", "the functions' secret"]
    {
        assert!(ok.contains(found), "{found} is missing in {report}");
    }
    let functions =
        lines(&report, "ok").into_iter().find(|line| line.contains("functions") && line.contains(" answer at ")).unwrap().to_owned();
    assert!(functions.contains(&deployment.url), "{functions}");
    let warned = lines(&report, "warn").join("\n");
    for unknown in ["protection", "backups", "email", "sender", "email events"] {
        assert!(warned.contains(unknown), "{unknown} is missing in {report}");
    }
    assert!(!report.contains(SECRET), "{report}");
}

#[test]
fn a_published_secret_fails_as_does_one_that_differs_from_that_of_the_functions() {
    let deployment = deployment();
    let other = doctor(&deployment, "gatelet", &[("GATELET_SECRET", "another deployment secret of this test alone")]);
    assert_eq!(fails(&other), "error: one check failed\n");
    assert!(lines(&String::from_utf8(other.stdout).unwrap(), "fail")[0].contains("differs from GATELET_SECRET"));
    let published = doctor(&deployment, "gatelet", &[("GATELET_SECRET", "change-me-change-me-change-me-change-me")]);
    assert_eq!(fails(&published), "error: one check failed\n");
    let report = String::from_utf8(published.stdout).unwrap();
    assert!(lines(&report, "fail")[0].contains("published example"), "{report}");
}

#[test]
fn a_missing_table_fails_and_the_other_checks_still_run() {
    let deployment = deployment();
    let output = doctor(&deployment, "nowhere", &[]);
    assert_eq!(fails(&output), "error: one check failed\n");
    let report = String::from_utf8(output.stdout).unwrap();
    assert!(lines(&report, "fail")[0].contains("nowhere"), "{report}");
    assert!(lines(&report, "ok").iter().any(|line| line.contains("functions")), "{report}");
}

#[test]
fn every_unavailable_function_is_named() {
    let deployment = deployment();
    // The server at this URL is the table, so no function responds.
    let output = doctor(&deployment, "gatelet", &[("GATELET_API_URL", &deployment.line("DynamoDB"))]);
    assert!(fails(&output).ends_with("checks failed\n"));
    let report = String::from_utf8(output.stdout).unwrap();
    assert!(lines(&report, "fail").iter().any(|line| line.contains("auth-password-sign-up does not answer")), "{report}");
}

#[test]
fn the_doctor_requires_a_table() {
    assert!(fails(&end_of(&mut gateway(&["doctor"]))).contains("--table"));
}
