//! Tests of the rows.

use super::*;

#[test]
fn every_meaning_and_every_hint_is_a_short_sentence() {
    for code in ErrorCode::all() {
        for text in [code.meaning(), code.hint()] {
            assert!(text.ends_with('.') && text.starts_with(|c: char| c.is_uppercase()), "{code:?}: {text}");
            assert!(text.len() <= 110, "{code:?}: {text}");
        }
    }
}

#[test]
fn a_code_is_known_to_the_sdks_that_its_row_names() {
    let known = |code: ErrorCode| [true, false].map(|is_older| code.is_known_to_sdk(is_older));
    assert_eq!(known(ErrorCode::UserNotFound), [true, true]);
    assert_eq!(known(ErrorCode::BotChallengeRequired), [false, true]);
    assert_eq!(known(ErrorCode::RateLimited), [false, false]);
}
