//! The publication date of a post. Authors write a date with or without a time; it is published as
//! an RFC 3339 date-time in UTC, without fractional seconds.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

const EXPECTED: &str = "is not a date: expected `2026-01-02`, or a time with an offset such as `2026-01-02T03:04:05+01:00`";

/// Parses a date, which means midnight UTC, or an RFC 3339 date-time.
pub(super) fn normalised(text: &str) -> Result<String, &'static str> {
    let time = match text.len() {
        10 => text.parse::<Date>().and_then(|date| date.to_zoned(TimeZone::UTC)).map(|midnight| midnight.timestamp()),
        _ if is_date_time(text) => text.parse(),
        _ => return Err(EXPECTED),
    };
    let time: Timestamp = time.map_err(|_| EXPECTED)?;
    // RFC 3339 covers only the years 0 to 9999, and the UTC time can be in another year than the
    // local time.
    let year = time.to_zoned(TimeZone::UTC).year();
    if (0..=9999).contains(&year) { Ok(time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()) } else { Err(EXPECTED) }
}

/// Whether a string has the form of RFC 3339 §5.6. jiff accepts more forms, for example with the
/// name of a time zone in brackets.
fn is_date_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    let fits = |pattern: &[u8]| {
        let pairs = bytes.iter().zip(pattern);
        bytes.len() > pattern.len()
            && pairs.into_iter().all(|(byte, form)| if *form == b'0' { byte.is_ascii_digit() } else { byte == form })
    };
    let offset = text.get(19..).unwrap_or_default();
    let offset = match offset.strip_prefix('.') {
        Some(fraction) if fraction.starts_with(|c: char| c.is_ascii_digit()) => fraction.trim_start_matches(|c: char| c.is_ascii_digit()),
        Some(_) => return false,
        None => offset,
    };
    let is_offset = match offset.as_bytes() {
        [b'Z'] => true,
        [b'+' | b'-', h1, h2, b':', m1, m2] => [h1, h2, m1, m2].iter().all(|byte| byte.is_ascii_digit()),
        _ => false,
    };
    fits(b"0000-00-00T00:00:00") && is_offset
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_times_become_utc_with_seconds() {
        for (given, expected) in [
            ("2026-01-02", "2026-01-02T00:00:00Z"),
            ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"),
            ("2026-01-02T03:04:05.987Z", "2026-01-02T03:04:05Z"),
            ("2026-01-02T03:04:05+05:30", "2026-01-01T21:34:05Z"),
            ("2025-12-31T23:30:00-01:00", "2026-01-01T00:30:00Z"),
            ("2024-02-29", "2024-02-29T00:00:00Z"),
        ] {
            assert_eq!(normalised(given).as_deref(), Ok(expected), "{given}");
        }
    }

    #[test]
    fn an_invalid_date_or_time_is_rejected() {
        for given in [
            "",
            "soon",
            "2026-02-30",
            "2025-02-29",
            "2026-1-2",
            "20260102",
            "2026-01-02T03:04:05",
            "2026-01-02T03:04Z",
            "2026-01-02T25:00:00Z",
            "2026-01-02 03:04:05Z",
            "2026-01-02T03:04:05.Z",
            "2026-01-02T03:04:05+0100",
            "2026-01-02T03:04:05Z[UTC]",
            "02.01.2026",
            "2026-01-02T03:04:05+99:00",
            "2026-W01-05",
            "0000-01-01T00:00:00+01:00",
        ] {
            assert_eq!(normalised(given), Err(EXPECTED), "{given}");
        }
    }
}
