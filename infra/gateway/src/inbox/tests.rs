//! Tests of storing, finding and deleting emails.

use std::path::PathBuf;

use email::send::Sender;
use model::email::Email;
use uuid::Uuid;
use wire::entropy::Entropy;
use wire::id::ProjectId;

use super::*;

fn uuid(number: u128) -> Uuid {
    Uuid::from_u128(0x6a0c_5a8e_58a1_4b0e_9a51_0000_0000_0000 + number)
}

fn mail(number: u128) -> Mail {
    Mail {
        id: EmailId::from(uuid(number)),
        project: ProjectId::internal(),
        attempt: 1,
        from: Sender { name: "Notes".to_owned(), address: "notes@example.com".to_owned() },
        to: vec![Email::parse(&format!("user{number}@example.com")).unwrap()],
        subject: format!("Number {number}"),
        html: Some("<p>Hello</p>".to_owned()),
        text: None,
        unsubscribe: None,
        is_automatic: false,
        server: None,
    }
}

/// A folder that is removed after the test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let folder = std::env::temp_dir().join(format!("gatelet-inbox-{}", Entropy::system().uuid()));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn open(&self) -> Inbox {
        Inbox::open(Some(&self.0.join("inbox.db")), Clock::system()).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn memory() -> Inbox {
    Inbox::open(None, Clock::system()).unwrap()
}

fn subjects(inbox: &Inbox, query: Query) -> Vec<String> {
    inbox.find(&Query { limit: KEPT, ..query }).unwrap().items.into_iter().map(|message| message.subject).collect()
}

fn search(inbox: &Inbox, part: &str) -> Vec<String> {
    subjects(inbox, Query { q: Some(part.to_owned()), ..Query::default() })
}

#[test]
fn emails_survive_a_restart_until_the_inbox_is_emptied() {
    let folder = Folder::new();
    let inbox = folder.open();
    (1..=3).for_each(|number| inbox.store(&mail(number)).unwrap());
    drop(inbox);
    let again = folder.open();
    assert_eq!(subjects(&again, Query::default()), ["Number 3", "Number 2", "Number 1"]);
    again.store(&mail(4)).unwrap();
    assert_eq!(subjects(&again, Query { to: Some(" USER4@example.com".to_owned()), ..Query::default() }), ["Number 4"]);
    again.clear().unwrap();
    assert!(subjects(&again, Query::default()).is_empty() && subjects(&folder.open(), Query::default()).is_empty());
}

#[test]
fn the_oldest_emails_are_removed_at_the_limit() {
    let folder = Folder::new();
    let kept = KEPT as u128;
    for inbox in [folder.open(), memory()] {
        (1..=kept + 5).for_each(|number| inbox.store(&mail(number)).unwrap());
        let found = inbox.find(&Query { limit: 2, ..Query::default() }).unwrap();
        assert_eq!((found.total, found.has_more, found.items[1].subject.as_str()), (KEPT, true, &*format!("Number {}", kept + 4)));
        assert_eq!(subjects(&inbox, Query::default()).last().unwrap(), "Number 6");
    }
    let again = folder.open();
    again.delete(&message_id(mail(kept).id, 1)).unwrap();
    (1..=2).for_each(|number| again.store(&mail(2 * kept + number)).unwrap());
    assert_eq!(subjects(&again, Query::default()).last().unwrap(), "Number 7", "a deleted email makes room for another");
}

#[test]
fn a_search_finds_any_substring_ignoring_case_and_without_patterns() {
    let inbox = memory();
    let ones = [("Grüße AUS Köln", "50% off", "<p>fifty</p>"), ("Other", "plain", "<b>Übergröße</b>")];
    for (number, (subject, text, html)) in (1..).zip(ones) {
        let (text, html) = (Some(text.to_owned()), Some(html.to_owned()));
        inbox.store(&Mail { subject: subject.to_owned(), text, html, ..mail(number) }).unwrap();
    }
    let first = ["Grüße AUS Köln"];
    for part in ["grüße", "KÖLN", "50%", "user1@EXAMPLE", &mail(1).id.to_string()] {
        assert_eq!(search(&inbox, part), first, "{part}");
    }
    assert_eq!(search(&inbox, "notes@").len(), 2);
    for part in ["50_", "%off", "übergröße", "<b>", "' OR 1=1 --"] {
        assert!(search(&inbox, part).is_empty(), "{part}");
    }
    inbox.store(&Mail { html: Some("<p>Only here</p>".to_owned()), ..mail(3) }).unwrap();
    assert_eq!(search(&inbox, "only HERE"), ["Number 3"], "without a text, the HTML is searched");
}

#[test]
fn filters_combine_and_a_list_continues_before_a_given_email() {
    let inbox = memory();
    let other = ProjectId::parse("6a0c5a8e-58a1-4b0e-9a51-000000000009").unwrap();
    (1..=6).for_each(|number| {
        let project = if number % 2 == 0 { other.clone() } else { ProjectId::internal() };
        inbox.store(&Mail { project, ..mail(number) }).unwrap();
    });
    let query = Query { project: Some(other.to_string()), q: Some("number".to_owned()), limit: 2, ..Query::default() };
    let page = inbox.find(&query).unwrap();
    assert_eq!((page.total, page.unread, page.has_more), (3, 3, true));
    let before = page.items.last().unwrap().id.clone();
    let rest = inbox.find(&Query { before: Some(before), ..query.clone() }).unwrap();
    assert_eq!((rest.items.len(), rest.items[0].subject.as_str(), rest.total, rest.has_more), (1, "Number 2", 3, false));
    assert!(matches!(inbox.find(&Query { before: Some("nothing".to_owned()), ..query }), Err(Error::NotFound(_))));
}

#[test]
fn read_marks_are_set_explicitly_and_kept() {
    let folder = Folder::new();
    let inbox = folder.open();
    inbox.store(&mail(1)).unwrap();
    let id = message_id(mail(1).id, 1);
    assert!(!inbox.message(&id).unwrap().read && !inbox.message(&id).unwrap().read);
    assert!(inbox.mark(&id, true).unwrap().read);
    drop(inbox);
    let inbox = folder.open();
    assert_eq!((inbox.message(&id).unwrap().read, inbox.find(&Query::default()).unwrap().unread), (true, 0));
    assert!(!inbox.mark(&id, false).unwrap().read);
    assert!(inbox.has(mail(1).id, 1).unwrap() && !inbox.has(mail(1).id, 2).unwrap());
    inbox.delete(&id).unwrap();
    for outcome in [inbox.delete(&id).err(), inbox.mark(&id, true).err(), inbox.message(&id).err(), inbox.source(&id).err()] {
        assert!(matches!(outcome, Some(Error::NotFound(_))), "{outcome:?}");
    }
}

#[test]
fn the_source_is_the_stable_message_with_its_headers() {
    let inbox = memory();
    let unsubscribe = Some("https://example.com/off?code=1".to_owned());
    inbox.store(&Mail { text: Some("Hello".to_owned()), unsubscribe, ..mail(1) }).unwrap();
    let id = message_id(mail(1).id, 1);
    let source = inbox.source(&id).unwrap();
    let head = ["From: Notes <notes@example.com>", "To: user1@example.com", "Subject: Number 1", "<https://example.com/off?code=1>"];
    for part in head.into_iter().chain(["List-Unsubscribe-Post: List-Unsubscribe=One-Click", "multipart/alternative", "<p>Hello</p>"]) {
        assert!(source.contains(part), "{part} is missing in {source}");
    }
    assert_eq!(inbox.source(&id).unwrap(), source);
}

#[test]
fn the_source_says_which_emails_are_automatic_after_an_update_as_well() {
    let folder = Folder::new();
    folder.open().store(&mail(1)).unwrap();
    // Inboxes from earlier versions lack this column.
    let database = rusqlite::Connection::open(folder.0.join("inbox.db")).unwrap();
    database.execute_batch("ALTER TABLE bodies DROP COLUMN is_automatic").unwrap();
    drop(database);
    let inbox = folder.open();
    inbox.store(&Mail { is_automatic: true, ..mail(2) }).unwrap();
    let is_automatic = |number| inbox.source(&message_id(mail(number).id, 1)).unwrap().contains("Auto-Submitted: auto-generated");
    assert_eq!([1, 2].map(is_automatic), [false, true]);
}

#[test]
fn files_of_an_older_version_are_imported_once() {
    let folder = Folder::new();
    let mails = folder.0.join("mails");
    std::fs::create_dir(&mails).unwrap();
    let line = |number: u32| {
        format!(
            r#"{{"id":"{id}-{number}","to":["user{number}@example.com"],"from":"\"Notes\" <notes@example.com>","subject":"Number {number}","text":"Hi","html":"","sent_at_millis":{number},"outbox_id":"{id}"}}"#,
            id = uuid(number.into())
        )
    };
    std::fs::write(mails.join("older.jsonl"), format!("{}\n{}\n", line(1), line(2))).unwrap();
    std::fs::write(mails.join("newest.jsonl"), format!("{}\n{}", line(3), &line(4)[..50])).unwrap();

    let inbox = folder.open();
    inbox.take_over(&mails).unwrap();
    assert_eq!(subjects(&inbox, Query::default()), ["Number 3", "Number 2", "Number 1"]);
    let message = inbox.messages(Some("user2@example.com")).remove(0);
    assert_eq!((message.from.as_str(), &*message.text, message.sent_at_millis), ("\"Notes\" <notes@example.com>", "Hi", 2));
    assert!(message.read && message.project_id.is_none());
    assert!(inbox.source(&message.id).unwrap().contains("From: Notes <notes@example.com>"));
    assert!(!mails.exists());
    inbox.take_over(&mails).unwrap();
    assert_eq!(inbox.find(&Query::default()).unwrap().total, 3);
}

#[test]
fn an_import_into_a_full_inbox_keeps_the_emails_that_were_sent_last() {
    let folder = Folder::new();
    let mails = folder.0.join("mails");
    std::fs::create_dir(&mails).unwrap();
    let line = |subject: &str, at: i64| {
        format!(
            r#"{{"id":"{subject}","to":[],"from":"x@example.com","subject":"{subject}","text":"","html":"","sent_at_millis":{at},"outbox_id":"b"}}"#
        )
    };
    let lines = [line("Oldest", 1), line("Newest", jiff::Timestamp::MAX.as_millisecond())];
    std::fs::write(mails.join("newest.jsonl"), lines.join("\n") + "\n").unwrap();
    let inbox = memory();
    (1..=KEPT as u128).for_each(|number| inbox.store(&mail(number)).unwrap());
    inbox.take_over(&mails).unwrap();
    let subjects = subjects(&inbox, Query::default());
    let (first, last) = (&*subjects[0], &**subjects.last().unwrap());
    assert_eq!((subjects.len(), first, last), (KEPT, "Newest", "Number 2"));
    inbox.store(&mail(KEPT as u128 + 1)).unwrap();
    assert_eq!(inbox.find(&Query::default()).unwrap().total, KEPT);
}

#[test]
fn files_left_by_an_interrupted_import_are_not_imported_twice() {
    let folder = Folder::new();
    let mails = folder.0.join("mails");
    let line = r#"{"id":"a","to":[],"from":"x@example.com","subject":"One","text":"","html":"","sent_at_millis":1,"outbox_id":"b"}"#;
    let inbox = folder.open();
    for _ in 0..2 {
        std::fs::create_dir_all(&mails).unwrap();
        std::fs::write(mails.join("newest.jsonl"), format!("{line}\n")).unwrap();
        inbox.take_over(&mails).unwrap();
    }
    assert_eq!(subjects(&inbox, Query::default()), ["One"]);
}

/// Measures how many emails per second an inbox in a file can store, one after another.
#[test]
#[ignore = "measures the disk"]
fn deliveries_are_measured() {
    let folder = Folder::new();
    let (inbox, begun) = (folder.open(), std::time::Instant::now());
    (1..=5000).for_each(|number| inbox.store(&mail(number)).unwrap());
    println!("{:.0} emails/s", 5000.0 / begun.elapsed().as_secs_f64());
}
