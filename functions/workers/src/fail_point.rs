//! Points at which a test kills the process, to find out what a crash leaves behind.
//!
//! With `GATELET_STOP_AT=claimed:17`, the worker that reaches the point `claimed` with the 17th
//! item prints a line to standard error and waits. The test then sends SIGKILL. At the point
//! `claimed`, an item is an email. At other points, an item is, for example, a delivery or an entry
//! of the trail. Release builds do not contain this code.

#[cfg(debug_assertions)]
pub(crate) fn reached(place: &str, mails: usize) {
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicUsize, Ordering};

    static STOP: LazyLock<Option<(String, usize)>> = LazyLock::new(|| {
        let text = wire::environment::variable("GATELET_STOP_AT")?;
        let (place, count) = text.split_once(':')?;
        Some((place.to_owned(), count.parse().ok()?))
    });
    static COUNT: AtomicUsize = AtomicUsize::new(0);

    let Some((wanted, count)) = &*STOP else { return };
    let before = if wanted == place { COUNT.fetch_add(mails, Ordering::SeqCst) } else { return };
    if (before..before + mails).contains(&(*count - 1)) {
        eprintln!("stopped at {place}");
        // Requests continue to run, because tasks waiting for this thread move to another thread.
        tokio::task::block_in_place(|| {
            loop {
                std::thread::park();
            }
        });
    }
}

#[cfg(not(debug_assertions))]
#[inline]
pub(crate) fn reached(_: &str, _: usize) {}
