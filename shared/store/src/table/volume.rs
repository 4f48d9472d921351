//! The number of bytes that a request reads from the table, for the limit on clients' reads
//! ([`Limit::Read`](model::limit::Limit::Read)).

use std::cell::Cell;

use crate::table::item::{Item, bytes_of};

tokio::task_local! {
    /// The number of bytes; `None` if they are not counted.
    static BYTES: Cell<Option<usize>>;
}

/// Runs a request. Returns the output of the request and the approximate size, in bytes, of the
/// items read since [`measure`]; 0 if nothing was measured.
pub async fn within<F: Future>(request: F) -> (F::Output, usize) {
    let measured = async { (request.await, BYTES.with(Cell::get).unwrap_or_default()) };
    BYTES.scope(Cell::new(None), measured).await
}

/// Starts to measure how much the request reads.
pub fn measure() {
    // Outside a request, nothing is measured.
    let _ = BYTES.try_with(|bytes| bytes.set(Some(0)));
}

/// Adds items to the measurement.
pub(crate) fn add<'a>(items: impl IntoIterator<Item = &'a Item>) {
    change(|sum| sum + items.into_iter().map(bytes_of).sum::<usize>());
}

/// Subtracts the bytes of items that every request reads, no matter what it asks for.
pub fn leave_out(bytes: impl FnOnce() -> usize) {
    change(|sum| sum.saturating_sub(bytes()));
}

fn change(to: impl FnOnce(usize) -> usize) {
    let _ = BYTES.try_with(|bytes| bytes.set(bytes.get().map(to)));
}
