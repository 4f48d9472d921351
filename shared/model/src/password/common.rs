//! The most common passwords, which are refused (NIST SP 800-63B-4, §3.1.1.2).
//!
//! `common.bin` contains a fingerprint of each common password: the first 40 bits (five bytes) of
//! the SHA-256 of the normalized password in lower case. The fingerprints are sorted. Passwords
//! that are too short for any project are left out. In numbers:
//!
//! - 21,648 entries, 108,240 bytes; linked only into functions that set passwords
//! - false positives: 21,648 in 2^40, or one in fifty million
//! - a lookup takes less than a microsecond: one digest and 15 steps of binary search
//!
//! `cargo run -p infra -- common-passwords LIST…` generates `common.bin` from lists of passwords.
//! `common.LICENSES.txt` names the lists used and their licenses.

use std::collections::BTreeSet;

use crypto::password::normalized;
use ring::digest::{SHA256, digest};

use crate::password::length::MIN_LENGTH;

/// The size of a fingerprint in bytes.
const SIZE: usize = 5;

static FINGERPRINTS: &[u8] = include_bytes!("common.bin");

fn fingerprint(lower_case: &str) -> [u8; SIZE] {
    let mut fingerprint = [0; SIZE];
    for (to, from) in fingerprint.iter_mut().zip(digest(&SHA256, lower_case.as_bytes()).as_ref()) {
        *to = *from;
    }
    fingerprint
}

/// Whether a normalized, lower-case password is one of the most common.
pub(crate) fn is_common(lower_case: &str) -> bool {
    FINGERPRINTS.as_chunks().0.binary_search(&fingerprint(lower_case)).is_ok()
}

/// The content of `common.bin` for a list of passwords.
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
    fn the_table_is_small_sorted_and_has_common_passwords() {
        let (entries, rest) = FINGERPRINTS.as_chunks::<SIZE>();
        assert!(rest.is_empty() && entries.is_sorted_by(|a, b| a < b));
        assert!((20_000..60_000).contains(&entries.len()), "{}", entries.len());
        for common in ["password", "12345678", "iloveyou", "football", "trustno1", "password123", "qwertyuiop"] {
            assert!(is_common(common), "{common}");
        }
    }

    #[test]
    fn uncommon_passwords_are_not_in_the_table() {
        let found = (0..200_000).filter(|n| is_common(&format!("correct horse battery {n}"))).count();
        assert_eq!(found, 0);
    }

    #[test]
    fn a_table_has_each_normalised_password_once_and_no_short_ones() {
        let of = |passwords: &[&str]| table(passwords.iter().map(|password| (*password).to_owned()));
        let one = of(&["\u{e9}lephants"]);
        assert_eq!(one.len(), SIZE);
        assert_eq!(of(&["E\u{301}LEPHANTS", " \u{e9}lephants\r", "short"]), one);
        assert_eq!(of(&["elephants", "\u{e9}lephants"]).len(), 2 * SIZE);
    }
}
