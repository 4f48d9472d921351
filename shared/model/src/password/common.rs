//! The most common passwords, which nobody may choose (NIST SP 800-63B-4, §3.1.1.2).
//!
//! `common.bin` has a fingerprint of each: the first 40 bits of the SHA-256 of the password in
//! lower case, sorted, five bytes each. Passwords that are too short for every project are left
//! out. Measured:
//!
//! - 21,648 entries, 108,240 bytes; linked only into functions in which users get a password
//! - false positives: 21,648 of 2^40, one in fifty million
//! - a look-up takes below a microsecond: one digest and 15 steps of a binary search
//!
//! `cargo run -p infra -- common-passwords LIST…` writes it from lists of passwords. The lists
//! that it was made from, and their licences, are in `common.LICENSES.txt`.

use std::collections::BTreeSet;

use crypto::password::normalized;
use ring::digest::{SHA256, digest};

use crate::password::length::MIN_LENGTH;

/// Bytes of a fingerprint.
const SIZE: usize = 5;

static FINGERPRINTS: &[u8] = include_bytes!("common.bin");

fn fingerprint(lower_case: &str) -> [u8; SIZE] {
    let mut fingerprint = [0; SIZE];
    for (to, from) in fingerprint.iter_mut().zip(digest(&SHA256, lower_case.as_bytes()).as_ref()) {
        *to = *from;
    }
    fingerprint
}

/// Whether a password, normalised and in lower case, is one of the most common.
pub(crate) fn is_common(lower_case: &str) -> bool {
    FINGERPRINTS.as_chunks().0.binary_search(&fingerprint(lower_case)).is_ok()
}

/// What `common.bin` has to be for these passwords.
pub fn table(passwords: impl IntoIterator<Item = String>) -> Vec<u8> {
    let long = passwords.into_iter().filter_map(|password| {
        let lower_case = normalized(password.trim()).to_lowercase();
        (lower_case.chars().count() >= MIN_LENGTH).then(|| fingerprint(&lower_case))
    });
    long.collect::<BTreeSet<_>>().into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_small_sorted_and_has_the_common_passwords_of_eight_characters_and_more() {
        let (entries, rest) = FINGERPRINTS.as_chunks::<SIZE>();
        assert!(rest.is_empty() && entries.is_sorted_by(|a, b| a < b));
        assert!((20_000..60_000).contains(&entries.len()), "{}", entries.len());
        for common in ["password", "12345678", "iloveyou", "football", "trustno1", "password123", "qwertyuiop"] {
            assert!(is_common(common), "{common}");
        }
    }

    #[test]
    fn other_passwords_are_not_in_it() {
        let found = (0..200_000).filter(|n| is_common(&format!("correct horse battery {n}"))).count();
        assert_eq!(found, 0);
    }

    #[test]
    fn a_table_has_each_password_once_whatever_its_case_and_form_and_no_short_one() {
        let of = |passwords: &[&str]| table(passwords.iter().map(|password| (*password).to_owned()));
        let one = of(&["\u{e9}lephants"]);
        assert_eq!(one.len(), SIZE);
        assert_eq!(of(&["E\u{301}LEPHANTS", " \u{e9}lephants\r", "short"]), one);
        assert_eq!(of(&["elephants", "\u{e9}lephants"]).len(), 2 * SIZE);
    }
}
