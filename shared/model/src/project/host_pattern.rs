//! Host patterns in the trusted domains of a project.

use url::Host;

/// The maximum length of a host name, in bytes (RFC 1035 §2.3.4: 255 octets, including the first
/// length byte and the root).
pub(crate) const MAX_HOST: usize = 253;
/// The maximum number of wildcards in a pattern. In every request with a URL, each wildcard costs
/// another pass over the host. Hosts have few labels, so more wildcards are not needed.
pub(crate) const MAX_WILDCARDS: usize = 8;

/// The lower-case ASCII form of a host or a pattern (RFC 5890 §2.3.2.1), which is the form that
/// browsers send. A string without an ASCII form is returned unchanged.
pub(crate) fn ascii_form(host: &str) -> String {
    if host.is_ascii() {
        return host.to_ascii_lowercase();
    }
    idna::domain_to_ascii(host).unwrap_or_else(|_| host.to_owned())
}

/// The host of a pattern, in the form used in URLs. An IP address or a percent-encoded name can be
/// written in several ways, only one of which would match.
pub(crate) fn canonical(pattern: &str) -> String {
    if pattern.contains('*') {
        return ascii_form(pattern);
    }
    Host::parse(pattern).map_or_else(|_| ascii_form(pattern), |host| host.to_string())
}

/// Whether a label of the pattern contains both a wildcard and characters outside ASCII. Such a
/// label does not have an ASCII form that would match.
pub(crate) fn has_mixed_label(pattern: &str) -> bool {
    pattern.split('.').any(|label| label.contains('*') && !label.is_ascii())
}

fn wildcards(pattern: &str) -> usize {
    pattern.matches('*').count() - pattern.matches("**").count()
}

/// Whether a pattern has more wildcards than [`MAX_WILDCARDS`].
pub(crate) fn has_too_many_wildcards(pattern: &str) -> bool {
    wildcards(pattern) > MAX_WILDCARDS
}

/// Matches a host against a pattern: `**` matches one or more characters, and `*` matches one or
/// more characters except dots. A pattern from an earlier version with too many wildcards does not
/// match any host.
///
/// The time is proportional to the length of the pattern times the length of the host, and hosts
/// are short. A project's patterns therefore cannot slow down the requests of other projects in the
/// same process.
pub(crate) fn host_matches(pattern: &str, host: &str) -> bool {
    // Each character and each wildcard of a pattern matches at least one character.
    let min = pattern.len() - pattern.matches("**").count();
    if host.len() > MAX_HOST || min > host.len() || has_too_many_wildcards(pattern) {
        return false;
    }
    let host = host.as_bytes();
    // For each length, whether the part of the pattern processed so far matches that many bytes of
    // the host.
    let (mut matched, mut next) = (vec![false; host.len() + 1], vec![false; host.len() + 1]);
    matched[0] = true;
    let mut bytes = pattern.bytes().peekable();
    while let Some(byte) = bytes.next() {
        let after = next.iter_mut().skip(1).zip(&matched).zip(host);
        if byte == b'*' {
            let crosses_dots = bytes.next_if_eq(&b'*').is_some();
            // A wildcard matches at least one character: `*.example.com` does not match
            // `.example.com`.
            let mut is_inside = false;
            for ((next, matched), found) in after {
                is_inside = (is_inside || *matched) && (crosses_dots || *found != b'.');
                *next = is_inside;
            }
        } else {
            for ((next, matched), found) in after {
                *next = *matched && *found == byte;
            }
        }
        next[0] = false;
        std::mem::swap(&mut matched, &mut next);
    }
    matched[host.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn international_names_have_an_ascii_form() {
        for (text, expected) in [
            ("münchen.example", "xn--mnchen-3ya.example"),
            ("MÜNCHEN.Example", "xn--mnchen-3ya.example"),
            ("xn--mnchen-3ya.example", "xn--mnchen-3ya.example"),
            ("mu\u{308}nchen.example", "xn--mnchen-3ya.example"),
            ("*.münchen.example", "*.xn--mnchen-3ya.example"),
            ("**.例え.テスト", "**.xn--r8jz45g.xn--zckzah"),
            ("App.Example.com", "app.example.com"),
            ("[::1]", "[::1]"),
        ] {
            assert_eq!(ascii_form(text), expected, "{text}");
        }
        assert!(has_mixed_label("mün*.example") && !has_mixed_label("*.münchen.example") && !has_mixed_label("pr-*.example"));
    }

    /// A matcher that tried every length for each wildcard would never finish on this pattern.
    #[test]
    fn many_wildcards_take_no_longer_than_one() {
        let (wildcards, host) = ("*a".repeat(MAX_WILDCARDS - 1), "a".repeat(253));
        assert!(!host_matches(&format!("{wildcards}.test"), &host));
        assert!(!host_matches(&format!("*{wildcards}b"), &host) && host_matches(&format!("*{wildcards}"), &host));
        assert!(!host_matches("**", &"a".repeat(254)), "a longer name is not a host name");
        assert!(!host_matches("*.*.test", "a.test") && host_matches("*.*.test", "a.b.test") && host_matches("***", "ab"));
    }

    #[test]
    fn a_pattern_with_too_many_wildcards_matches_nothing() {
        let pattern = |wildcard: &str, count: usize| vec![wildcard; count].join(".");
        let host = ["a"; MAX_WILDCARDS + 1].join(".");
        for wildcard in ["*", "**"] {
            assert!(host_matches(&format!("{}.a", pattern(wildcard, MAX_WILDCARDS)), &host), "{wildcard}");
            assert!(!host_matches(&pattern(wildcard, MAX_WILDCARDS + 1), &host), "{wildcard}");
        }
        assert!(!has_too_many_wildcards(&"**".repeat(MAX_WILDCARDS)) && has_too_many_wildcards(&"*".repeat(2 * MAX_WILDCARDS + 1)));
    }
}
