//! Patterns of hosts, in the trusted domains of a project.

/// The longest name of a host, in bytes (RFC 1035 §2.3.4: 255 octets with the first length byte and
/// the root).
pub(crate) const MAX_HOST: usize = 253;

/// Matches a host against a pattern: `**` stands for one or more characters, `*` for one or more
/// characters except dots.
///
/// The time is proportional to the product of both lengths, however many wildcards there are:
/// whoever sets the domains of one project shares the process with others.
pub(crate) fn host_matches(pattern: &str, host: &str) -> bool {
    if host.len() > MAX_HOST || pattern.len() > 2 * MAX_HOST {
        return false;
    }
    let host = host.as_bytes();
    // For each length, whether the pattern read so far matches that many bytes of the host.
    let mut matched = vec![false; host.len() + 1];
    matched[0] = true;
    let mut bytes = pattern.bytes().peekable();
    while let Some(byte) = bytes.next() {
        let crosses_dots = byte == b'*' && bytes.next_if_eq(&b'*').is_some();
        let mut next = vec![false; host.len() + 1];
        for (at, &found) in host.iter().enumerate() {
            next[at + 1] = match byte {
                // A wildcard stands for at least one character: `*.example.com` does not match
                // `.example.com`.
                b'*' => (matched[at] || next[at]) && (crosses_dots || found != b'.'),
                _ => matched[at] && found == byte,
            };
        }
        matched = next;
    }
    matched[host.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A matcher that tries every length for each wildcard would not end.
    #[test]
    fn many_wildcards_take_no_longer_than_one() {
        let (wildcards, host) = ("*a".repeat(100), "a".repeat(253));
        assert!(!host_matches(&format!("{wildcards}.test"), &host));
        assert!(!host_matches(&format!("*{wildcards}b"), &host) && host_matches(&format!("*{wildcards}"), &host));
        assert!(!host_matches("**", &"a".repeat(254)), "a longer name is none");
        assert!(!host_matches("*.*.test", "a.test") && host_matches("*.*.test", "a.b.test") && host_matches("***", "ab"));
    }
}
