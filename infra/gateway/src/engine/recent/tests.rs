//! Tests which rows and pages are kept.

use super::*;

fn key(sk: usize) -> Key {
    Key::new("A", sk.to_string())
}

fn item(text: &str) -> Item {
    HashMap::from([("a".to_owned(), AttributeValue::S(text.to_owned()))])
}

fn row(text: &str) -> Arc<Row> {
    Arc::new(Row::new(item(text)))
}

fn unknown(recent: &RecentReads, key: Key) -> Unknown<Key> {
    match recent.find(&key) {
        Lookup::Unknown(unknown) => unknown,
        Lookup::Kept(row) => panic!("{row:?} is kept"),
    }
}

fn is_kept(recent: &RecentReads, key: Key) -> bool {
    matches!(recent.find(&key), Lookup::Kept(_))
}

#[test]
fn an_item_is_kept_until_it_is_written() {
    let recent = Arc::new(RecentReads::default());
    let other = (2..100).find(|sk| recent.group(&key(*sk)) != recent.group(&key(1))).expect("another group");
    for sk in [1, other] {
        recent.keep(unknown(&recent, key(sk)), &row("x"));
    }
    let write = recent.write(WrittenItems::Items(vec![key(1)]));
    assert!(!is_kept(&recent, key(1)) && is_kept(&recent, key(other)));
    recent.keep(unknown(&recent, key(1)), &row("x"));
    assert!(!is_kept(&recent, key(1)), "the write is under way");
    drop(write);
    recent.keep(unknown(&recent, key(1)), &row("y"));
    assert!(is_kept(&recent, key(1)));
    drop(recent.write(WrittenItems::Any));
    assert!(!is_kept(&recent, key(1)) && !is_kept(&recent, key(other)));
}

#[test]
fn an_item_that_was_read_during_a_write_is_not_kept() {
    let recent = Arc::new(RecentReads::default());
    for written in [|| WrittenItems::Items(vec![key(1)]), || WrittenItems::Any] {
        let before = unknown(&recent, key(1));
        let write = recent.write(written());
        let during = unknown(&recent, key(1));
        drop(write);
        for read in [before, during] {
            recent.keep(read, &row("old"));
            assert!(!is_kept(&recent, key(1)));
        }
    }
}

#[test]
fn neither_many_items_nor_large_ones_fill_the_memory() {
    let recent = RecentReads::default();
    recent.keep(unknown(&recent, key(0)), &row(&"x".repeat(MAX_ITEM_BYTES)));
    assert!(!is_kept(&recent, key(0)));
    for sk in 1..=MAX_ROWS + 10 {
        recent.keep(unknown(&recent, key(sk)), &row("x"));
        assert!(is_kept(&recent, key(1)), "the first is used the most");
    }
    assert_eq!(recent.state().rows.len(), MAX_ROWS);
    assert!(!is_kept(&recent, key(2)));
}

#[test]
fn an_item_counts_with_the_overhead_of_its_maps_and_lists() {
    let recent = RecentReads::default();
    let small = || AttributeValue::M(item(""));
    let list =
        |value: &dyn Fn() -> AttributeValue| HashMap::from([("a".to_owned(), AttributeValue::L((0..4096).map(|_| value()).collect()))]);
    // The names and values take 8 KB, and the tables of the maps take more than a megabyte.
    let maps = list(&small);
    assert!(size(&maps) > 4096 * 4 * size_of::<(String, AttributeValue)>());
    // Metadata is a string in the item, but a tree in the entity.
    let metadata = HashMap::from([("a".to_owned(), AttributeValue::S(format!("[{}0]", r#"{"":0},"#.repeat(512))))]);
    for item in [maps, list(&|| AttributeValue::Null(true)), list(&|| AttributeValue::Ss(vec![String::new()])), metadata] {
        recent.keep(unknown(&recent, key(0)), &Arc::new(Row::new(item)));
        assert!(!is_kept(&recent, key(0)));
    }
    let usual = HashMap::from([("a".to_owned(), AttributeValue::S(r#"{"plan":"team","seats":[1,2,3]}"#.to_owned()))]);
    recent.keep(unknown(&recent, key(0)), &Arc::new(Row::new(usual)));
    assert!(is_kept(&recent, key(0)));
}

#[test]
fn expired_items_are_forgotten_when_others_are_kept() {
    let recent = RecentReads::default();
    for sk in 0..10 {
        recent.keep(unknown(&recent, key(sk)), &row("x"));
    }
    let long_ago = Instant::now().checked_sub(KEPT).expect("the machine has run for a while");
    recent.state().rows.iter_mut().take(9).for_each(|(_, (read_at, _))| *read_at = long_ago);
    recent.keep(unknown(&recent, key(10)), &row("x"));
    let left: Vec<_> = recent.state().rows.iter().map(|(key, _)| key.clone()).collect();
    assert_eq!(left, [key(9), key(10)]);
    recent.state().rows.iter_mut().for_each(|(_, (read_at, _))| *read_at = long_ago);
    assert!(!is_kept(&recent, key(9)));
    assert_eq!(recent.state().rows.len(), 1);
    recent.forget_expired();
    assert_eq!(recent.state().rows.len(), 0);
}
