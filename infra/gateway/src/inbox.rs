//! The inbox: where the gateway's mails go in place of SES.
//!
//! A mail is a line of JSON in a file of the data folder, written before the sender is told that the mail is out, so that what the outbox
//! calls sent is there after a crash. Memory has of each mail what it is found by; `--memory` keeps all of it there. A full file gives way
//! to a new one and is kept beside it, so that the newest mails are always in one of the two.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::future::Future;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use shared::clock::Clock;
use shared::mail::send::{Mail, Mailer};
use shared::model::outbox::Failure;
use shared::model::outbox_work::Outcome;

/// How many mails the inbox keeps; the oldest go first.
pub const KEPT: usize = 10_000;
const NEWEST: &str = "newest.jsonl";
const OLDER: &str = "older.jsonl";

/// A mail that was delivered to the inbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    pub id: String,
    pub to: Vec<String>,
    pub from: String,
    pub subject: String,
    pub text: String,
    pub html: String,
    pub sent_at_millis: i64,
    pub outbox_id: String,
}

/// The sink of all mails of a gateway. Cheap to clone.
#[derive(Clone)]
pub struct Inbox {
    mails: Arc<Mutex<Mails>>,
    clock: Clock,
}

/// The newest mails, and how many there are.
#[derive(Debug, Serialize)]
pub struct Found {
    /// Newest first.
    pub items: Vec<Message>,
    pub total: usize,
}

struct Mails {
    /// Oldest first.
    known: VecDeque<Known>,
    log: Option<Log>,
}

/// What memory has of a mail.
struct Known {
    to: Vec<String>,
    place: Place,
}

#[derive(Clone)]
enum Place {
    Memory(Box<Message>),
    File { file: Arc<File>, start: u64, length: usize },
}

/// What a mail is found by.
#[derive(Deserialize)]
struct Address {
    to: Vec<String>,
}

/// The file that mails are added to.
struct Log {
    folder: PathBuf,
    file: Arc<File>,
    length: u64,
    count: usize,
}

impl Inbox {
    /// An inbox in a folder, or in memory.
    pub fn open(folder: Option<PathBuf>, clock: Clock) -> io::Result<Self> {
        let mut known = VecDeque::new();
        let log = folder.map(|folder| Log::open(folder, &mut known)).transpose()?;
        Ok(Self { mails: Arc::new(Mutex::new(Mails { known, log })), clock })
    }

    /// The newest mails to an address, or to all.
    pub fn find(&self, to: Option<&str>, limit: usize) -> Found {
        let wanted = |mail: &&Known| to.is_none_or(|to| mail.to.iter().any(|address| address.eq_ignore_ascii_case(to.trim())));
        let (total, places): (usize, Vec<Place>) = {
            let mails = self.lock();
            let newest = mails.known.iter().rev().filter(wanted).take(limit);
            (mails.known.iter().filter(wanted).count(), newest.map(|mail| mail.place.clone()).collect())
        };
        Found { total, items: places.into_iter().filter_map(Place::read).collect() }
    }

    /// All mails to an address, or to all, newest first.
    pub fn messages(&self, to: Option<&str>) -> Vec<Message> {
        self.find(to, KEPT).items
    }

    /// Throws all mails away.
    pub fn clear(&self) -> io::Result<()> {
        let mut mails = self.lock();
        mails.known.clear();
        mails.log.as_mut().map_or(Ok(()), Log::clear)
    }

    fn deliver(&self, mail: &Mail) -> io::Result<()> {
        let message = Message {
            // An attempt of its own: a mail that came twice would be seen twice.
            id: format!("{}-{}", mail.id, mail.attempt),
            to: mail.to.iter().map(ToString::to_string).collect(),
            from: mail.from.to_string(),
            subject: mail.subject.clone(),
            text: mail.text.clone().unwrap_or_default(),
            html: mail.html.clone().unwrap_or_default(),
            sent_at_millis: self.clock.now().as_millisecond(),
            outbox_id: mail.id.to_string(),
        };
        let mut mails = self.lock();
        let to = message.to.clone();
        let place = match &mut mails.log {
            Some(log) => log.add(&message)?,
            None => Place::Memory(Box::new(message)),
        };
        mails.known.push_back(Known { to, place });
        if mails.known.len() > KEPT {
            mails.known.pop_front();
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Mails> {
        self.mails.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// Nothing where the inbox was emptied meanwhile.
    fn read(self) -> Option<Message> {
        match self {
            Self::Memory(message) => Some(*message),
            Self::File { file, start, length } => {
                let mut line = vec![0; length];
                file.read_exact_at(&mut line, start).ok()?;
                serde_json::from_slice(&line).ok()
            }
        }
    }
}

impl Log {
    /// Adds to `known` what is there.
    fn open(folder: PathBuf, known: &mut VecDeque<Known>) -> io::Result<Self> {
        std::fs::create_dir_all(&folder)?;
        if let Ok(older) = File::open(folder.join(OLDER)) {
            scan(&Arc::new(older), known)?;
        }
        let (file, before) = (Arc::new(appended(&folder.join(NEWEST))?), known.len());
        let length = scan(&file, known)?;
        // What a crash left half written was never answered for.
        file.set_len(length)?;
        let count = known.len() - before;
        known.drain(..known.len().saturating_sub(KEPT));
        Ok(Self { folder, file, length, count })
    }

    fn add(&mut self, message: &Message) -> io::Result<Place> {
        if self.count >= KEPT {
            std::fs::rename(self.folder.join(NEWEST), self.folder.join(OLDER))?;
            self.file = Arc::new(appended(&self.folder.join(NEWEST))?);
            (self.length, self.count) = (0, 0);
        }
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        if let Err(error) = (&*self.file).write_all(&line) {
            // What got there is not in the way of the next one.
            self.file.set_len(self.length)?;
            return Err(error);
        }
        let (start, length) = (self.length, line.len());
        self.length += length as u64;
        self.count += 1;
        Ok(Place::File { file: Arc::clone(&self.file), start, length })
    }

    fn clear(&mut self) -> io::Result<()> {
        match std::fs::remove_file(self.folder.join(OLDER)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        self.file.set_len(0)?;
        (self.length, self.count) = (0, 0);
        Ok(())
    }
}

fn appended(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).read(true).append(true).open(path)
}

/// Adds the mails of a file to `known`; gives how many of its bytes are whole mails.
fn scan(file: &Arc<File>, known: &mut VecDeque<Known>) -> io::Result<u64> {
    let (mut reader, mut line, mut start) = (BufReader::new(&**file), Vec::new(), 0);
    loop {
        line.clear();
        let length = reader.read_until(b'\n', &mut line)?;
        match serde_json::from_slice::<Address>(&line) {
            Ok(Address { to }) if line.ends_with(b"\n") => {
                known.push_back(Known { to, place: Place::File { file: Arc::clone(file), start, length } });
                start += length as u64;
            }
            _ => return Ok(start),
        }
    }
}

impl Mailer for Inbox {
    fn send<'a>(&'a self, mail: &'a Mail) -> Pin<Box<dyn Future<Output = Outcome> + Send + 'a>> {
        Box::pin(async move {
            match self.deliver(mail) {
                Ok(()) => Outcome::Sent { is_reported_on: false },
                Err(error) => {
                    let failure = Failure::new(self.clock.now(), "TEMPORARY", "the inbox cannot be written");
                    Outcome::Retryable(failure.because(error.to_string()))
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use shared::entropy::Entropy;
    use shared::mail::send::Sender;
    use shared::model::email::Email;
    use shared::model::id::{EmailId, ProjectId};
    use uuid::Uuid;

    use super::*;

    fn mail(number: u128) -> Mail {
        Mail {
            id: EmailId::from(Uuid::from_u128(number)),
            project: ProjectId::internal(),
            attempt: 1,
            from: Sender { name: "Notes".to_owned(), address: "notes@example.com".to_owned() },
            to: vec![Email::parse(&format!("user{number}@example.com")).unwrap()],
            subject: format!("Number {number}"),
            html: Some("<p>Hello</p>".to_owned()),
            text: None,
            unsubscribe: None,
            server: None,
        }
    }

    fn folder() -> PathBuf {
        let folder = std::env::temp_dir().join(format!("gatelet-inbox-{}", Entropy::system().uuid()));
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn subjects(inbox: &Inbox, to: Option<&str>) -> Vec<String> {
        inbox.messages(to).into_iter().map(|message| message.subject).collect()
    }

    #[test]
    fn mails_are_there_after_a_start_and_what_was_half_written_is_not() {
        let folder = folder();
        let inbox = Inbox::open(Some(folder.clone()), Clock::system()).unwrap();
        (1..=3).for_each(|number| inbox.deliver(&mail(number)).unwrap());
        let newest = folder.join(NEWEST);
        let text = std::fs::read_to_string(&newest).unwrap();
        std::fs::write(&newest, format!("{text}{}", &text[..100])).unwrap();

        let again = Inbox::open(Some(folder.clone()), Clock::system()).unwrap();
        assert_eq!(subjects(&again, None), ["Number 3", "Number 2", "Number 1"]);
        again.deliver(&mail(4)).unwrap();
        assert_eq!(subjects(&again, Some("USER4@example.com")), ["Number 4"]);
        assert_eq!(subjects(&Inbox::open(Some(folder.clone()), Clock::system()).unwrap(), None).len(), 4);
        again.clear().unwrap();
        assert!(
            subjects(&again, None).is_empty() && subjects(&Inbox::open(Some(folder.clone()), Clock::system()).unwrap(), None).is_empty()
        );
        again.deliver(&mail(5)).unwrap();
        assert_eq!(subjects(&again, None), ["Number 5"]);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn the_newest_mails_are_kept() {
        let folder = folder();
        let kept = KEPT as u128;
        for inbox in [Inbox::open(Some(folder.clone()), Clock::system()).unwrap(), Inbox::open(None, Clock::system()).unwrap()] {
            (1..=2 * kept + 5).for_each(|number| inbox.deliver(&mail(number)).unwrap());
            let found = inbox.find(None, 2);
            assert_eq!((found.total, found.items[1].subject.as_str()), (KEPT, format!("Number {}", 2 * kept + 4).as_str()));
            assert_eq!(subjects(&inbox, None).last().unwrap(), &format!("Number {}", kept + 6));
        }
        let again = Inbox::open(Some(folder.clone()), Clock::system()).unwrap();
        assert_eq!((again.find(None, 0).total, subjects(&again, None).last().unwrap()), (KEPT, &format!("Number {}", kept + 6)));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
