use std::pin::pin;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::poll;

use super::Turns;

const LONG: Duration = Duration::from_secs(2);

#[test]
fn previews_leave_a_renderer_to_the_outbox() {
    let turns = Turns::new();
    let _preview = turns.wait_for_preview("a").now_or_never().unwrap();
    assert!(turns.wait_for_preview("b").now_or_never().is_none());
    let _email = turns.wait_for_email("a").now_or_never().unwrap();
    assert!(turns.wait_for_email("b").now_or_never().is_none(), "at most two renderers run");
}

#[tokio::test]
async fn previews_of_one_project_delay_those_of_another_by_one() {
    let turns = Turns::new();
    let first = turns.wait_for_preview("a").await;
    let mut waiting = pin!(turns.wait_for_preview("a"));
    let mut other = pin!(turns.wait_for_preview("b"));
    assert!(poll!(waiting.as_mut()).is_pending() && poll!(other.as_mut()).is_pending());
    drop(first);
    assert!(poll!(waiting.as_mut()).is_pending());
    drop(other.now_or_never().unwrap());
    drop(waiting.now_or_never().unwrap());
    assert_eq!(turns.previews.semaphore("c").available_permits(), 1);
    assert_eq!(turns.previews.projects.lock().unwrap().len(), 1, "projects without previews are forgotten");
}

#[test]
fn slow_projects_leave_a_renderer_to_the_others() {
    let turns = Turns::new();
    for slow in ["a", "b", "c"] {
        turns.took(slow, LONG, 1);
    }
    let _slow = turns.wait_for_email("a").now_or_never().unwrap();
    assert!(turns.wait_for_email("b").now_or_never().is_none() && turns.wait_for_email("c").now_or_never().is_none());
    for _ in 0..2 {
        drop(turns.wait_for_email("quick").now_or_never().unwrap());
    }
}

#[tokio::test]
async fn slow_projects_take_turns() {
    let turns = Turns::new();
    turns.took("a", LONG, 1);
    turns.took("b", LONG, 1);
    let first = turns.wait_for_email("a").await;
    let mut waiting = pin!(turns.wait_for_email("a"));
    let mut other = pin!(turns.wait_for_email("b"));
    assert!(poll!(waiting.as_mut()).is_pending() && poll!(other.as_mut()).is_pending());
    drop(first);
    assert!(poll!(waiting.as_mut()).is_pending(), "the other project is next");
    drop(other.now_or_never().unwrap());
    drop(waiting.now_or_never().unwrap());
}

#[tokio::test]
async fn a_project_found_slow_while_it_waits_leaves_the_line() {
    let turns = Turns::new();
    let (one, slow) = (turns.wait_for_email("quick").await, turns.wait_for_email("a").await);
    let mut waiting = pin!(turns.wait_for_email("a"));
    assert!(poll!(waiting.as_mut()).is_pending());
    turns.took("a", LONG, 1);
    turns.took("b", LONG, 1);
    drop(one);
    let mut other = pin!(turns.wait_for_email("b"));
    assert!(poll!(other.as_mut()).is_pending(), "the project in the line is first");
    assert!(poll!(waiting.as_mut()).is_pending(), "another slow project uses the renderer for slow projects");
    let _other = other.now_or_never().unwrap();
    drop(slow);
    drop(turns.wait_for_email("quick").now_or_never().unwrap());
}

#[test]
fn a_project_is_slow_only_if_its_emails_take_long_on_average() {
    let turns = Turns::new();
    turns.took("many", LONG, 25);
    turns.took("short", Duration::from_millis(400), 1);
    turns.took("slow", LONG, 20);
    assert_eq!(["many", "short", "slow"].map(|project| turns.is_slow(project)), [false, false, true]);
}
