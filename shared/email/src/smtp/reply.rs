//! The replies of a mail server (RFC 5321 §4.2).

use std::fmt;

/// A complete reply: its code, and the text of its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reply {
    /// From 200 to 559.
    pub(super) code: u16,
    /// The text of each line, without control characters; may be empty.
    pub(super) lines: Vec<String>,
}

/// The bytes do not form a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ReplyError;

impl Reply {
    /// Takes the first reply from the received bytes. `None` if the reply is still incomplete; more
    /// bytes may show that it is not a reply.
    pub(super) fn take(arrived: &mut Vec<u8>) -> Result<Option<Self>, ReplyError> {
        let (mut code, mut lines, mut at) = (None, Vec::new(), 0);
        while let Some(length) = arrived[at..].iter().position(|byte| *byte == b'\n') {
            let line = &arrived[at..at + length];
            at += length + 1;
            let (number, goes_on, text) = parsed(line.strip_suffix(b"\r").unwrap_or(line)).ok_or(ReplyError)?;
            // All lines of a reply have the same code.
            if *code.get_or_insert(number) != number {
                return Err(ReplyError);
            }
            lines.push(text);
            if !goes_on {
                arrived.drain(..at);
                return Ok(Some(Self { code: number, lines }));
            }
        }
        Ok(None)
    }

    /// The first digit. The digit is 2 if the command has succeeded, 3 if the server waits for more
    /// input, and 4 or 5 if the server refuses the command. SMTP does not use the `1` of FTP (RFC
    /// 959).
    pub(super) fn class(&self) -> u16 {
        self.code / 100
    }
}

impl fmt::Display for Reply {
    /// The code and the text on one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.code)?;
        self.lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty()).try_for_each(|line| write!(f, " {line}"))
    }
}

/// A line without its end: the code, whether another line follows, and the text, which may be
/// missing along with the space before it.
fn parsed(line: &[u8]) -> Option<(u16, bool, String)> {
    let [a @ b'2'..=b'5', b @ b'0'..=b'5', c @ b'0'..=b'9', rest @ ..] = line else { return None };
    let digits = [a, b, c].map(|digit| u16::from(digit - b'0'));
    let (goes_on, text) = match rest {
        [] => (false, &[][..]),
        [b' ', text @ ..] => (false, text),
        [b'-', text @ ..] => (true, text),
        _ => return None,
    };
    let text = String::from_utf8_lossy(text).chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    Some((digits[0] * 100 + digits[1] * 10 + digits[2], goes_on, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(text: &str) -> (Result<Option<Reply>, ReplyError>, String) {
        let mut arrived = text.as_bytes().to_vec();
        let taken = Reply::take(&mut arrived);
        (taken, String::from_utf8(arrived).expect("text"))
    }

    #[test]
    fn a_reply_may_have_text_or_none_on_each_of_its_lines() {
        for (text, lines) in [
            ("250 fine\r\n", &["fine"][..]),
            ("250\r\n", &[""]),
            ("250 \r\n", &[""]),
            ("250-\r\n250\r\n", &["", ""]),
            ("250-a\r\n250-\r\n250 b\r\n", &["a", "", "b"]),
            ("250-a\n250\n", &["a", ""]),
        ] {
            let (taken, left) = take(&format!("{text}220 next"));
            let reply = Reply { code: 250, lines: lines.iter().map(ToString::to_string).collect() };
            assert_eq!((taken, left.as_str()), (Ok(Some(reply)), "220 next"), "{text:?}");
        }
    }

    #[test]
    fn a_reply_whose_end_has_not_arrived_is_awaited() {
        for text in ["", "2", "250", "250 fine\r", "250-a\r\n", "250-a\r\n250"] {
            assert_eq!(take(text), (Ok(None), text.to_owned()), "{text:?}");
        }
    }

    #[test]
    fn other_lines_are_not_replies() {
        for text in ["\r\n", "hello\r\n", "25\r\n", "2500 x\r\n", "250_x\r\n", "199 x\r\n", "600 x\r\n", "260 x\r\n", "250-a\r\n550 b\r\n"]
        {
            assert_eq!(take(text).0, Err(ReplyError), "{text:?}");
        }
    }

    #[test]
    fn a_reply_is_shown_on_one_line_without_controls() {
        let shown = |text: &[u8]| Reply::take(&mut text.to_vec()).ok().flatten().map(|reply| reply.to_string());
        assert_eq!(shown(b"550-5.1.1 no\r\n550-\r\n550 such\x1b[1m mailbox\r\n").as_deref(), Some("550 5.1.1 no such [1m mailbox"));
        assert_eq!(shown(b"550\r\n").as_deref(), Some("550"));
        assert_eq!(shown(b"550 gr\xfc\xdfe\r\n").as_deref(), Some("550 gr\u{fffd}\u{fffd}e"));
    }
}
