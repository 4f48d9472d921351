//! The security scorecard: every requirement has a row, and every requirement that is marked as met
//! has a test.

use infra::checked_in::root;
use infra::scorecard::{Requirement, Scorecard, Status};

/// The number of requirements at each level in chapters V6 to V10 and V16.
const COUNTS_OF_ASVS: [usize; 3] = [32, 80, 27];

fn row(status: Status, tests: &[&str], reason: &str) -> Requirement {
    Requirement {
        id: "1.1".to_owned(),
        level: "1".to_owned(),
        summary: "A sentence.".to_owned(),
        status,
        tests: tests.iter().map(|&test| test.to_owned()).collect(),
        reason: reason.to_owned(),
    }
}

/// The problems of a row as one text.
fn problems(row: &Requirement) -> String {
    row.problems(&root()).join("; ")
}

#[test]
fn requirements_have_one_row_and_met_ones_have_existing_tests() {
    let problems = Scorecard::read(&root()).unwrap().problems(&root());
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn the_standards_are_complete() {
    let scorecard = Scorecard::read(&root()).unwrap();
    let counts = |name: &str, level: &str| {
        let standard = scorecard.standards.iter().find(|standard| standard.name == name).unwrap();
        standard.parts.iter().flat_map(|part| &part.ids).filter(|(_, found)| level.is_empty() || found == level).count()
    };
    let asvs = ["1", "2", "3"].map(|level| counts("OWASP ASVS 5.0.0", level));
    assert_eq!(asvs, COUNTS_OF_ASVS);
    assert_eq!((counts("RFC 9700", ""), counts("NIST SP 800-63B-4", "")), (35, 42));
}

#[test]
fn a_row_with_an_unknown_test_is_rejected() {
    let known = "tests/contract/scorecard.rs::a_row_with_an_unknown_test_is_rejected";
    assert_eq!(problems(&row(Status::Met, &[known], "")), "");
    for unknown in [
        "tests/contract/scorecard.rs::a_row_that_names_no_test_at_all",
        "tests/contract/scorecard.rs::row",
        "tests/contract/nowhere.rs::a_test",
        "tests/oidc/attacks.test.js::a title that no test has",
        "a_row_with_an_unknown_test_is_rejected",
    ] {
        assert!(!problems(&row(Status::Met, &[known, unknown], "")).is_empty(), "{unknown}");
        let told = row(Status::NotMet, &[unknown], "a reason that is long enough to be one");
        assert!(!problems(&told).is_empty(), "{unknown} is accepted beside a reason");
    }
}

#[test]
fn a_row_without_evidence_is_rejected() {
    assert!(problems(&row(Status::Met, &[], "it is so because we say that it is so")).contains("names no test"));
    for status in [Status::NotMet, Status::NotApplicable] {
        assert!(problems(&row(status, &[], "")).contains("without a reason"));
        assert!(problems(&row(status, &[], "for some good reason")).contains("without a reason"));
        assert_eq!(problems(&row(status, &[], "for some good reasons")), "");
    }
}

#[test]
fn a_missing_or_duplicate_row_is_reported() {
    let mut scorecard = Scorecard::read(&root()).unwrap();
    let rows = &mut scorecard.standards[0].requirements;
    let (gone, twice) = (rows.remove(0), rows[0].clone());
    rows.push(twice.clone());
    let mut unknown = rows[1].clone();
    unknown.id = "99.9.9".to_owned();
    rows.push(unknown);
    rows[1].level = "4".to_owned();
    let problems = scorecard.problems(&root()).join("\n");
    for (id, problem) in
        [(gone.id.as_str(), "has no row"), (twice.id.as_str(), "has 2 rows"), ("99.9.9", "is not a requirement"), ("", "not 4")]
    {
        assert!(
            problems.contains(&format!("{id}: {problem}")) || id.is_empty() && problems.contains(problem),
            "{id} {problem}: {problems}"
        );
    }
}
