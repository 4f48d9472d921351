//! Tests of the catalog.

use crate::known::KnownError;

#[test]
fn every_code_has_a_meaning_and_a_hint() {
    for entry in KnownError::catalog() {
        for text in [entry.meaning, entry.hint] {
            assert!(text.ends_with('.') && text.starts_with(|c: char| c.is_uppercase()), "{}: {text}", entry.code);
            assert!(text.len() <= 110, "{}: {text}", entry.code);
        }
    }
}

#[test]
fn the_catalog_lists_every_code_once() {
    let codes: Vec<&str> = KnownError::catalog().map(|entry| entry.code).collect();
    assert_eq!(codes, KnownError::CODES);
}
