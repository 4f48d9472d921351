//! Counts the sign-ups that a project's rules reject. A rejected sign-up does not change anything,
//! so there is no transaction that could add it to the trail.

use crate::app::App;

/// The maximum count of a trail entry of rejected sign-ups; there is an entry for each minute,
/// operation and combination of rules. The maximum keeps a flood of sign-ups from becoming a flood
/// of writes to one item; sign-ups beyond the maximum are not counted. Each process may exceed the
/// maximum by its number of concurrent requests.
pub const MAX_COUNTED: u64 = 600;

/// Counts the sign-up of the current request if it was rejected. An error of the table is only
/// logged, because the sign-up is rejected in any case.
pub async fn count(app: &App) {
    let counted = async {
        let Some(rejection) = app.store.rejection()? else { return Ok(()) };
        let name = rejection.name.clone();
        if !app.memory.is_full(&name) && app.store.count_rejection(rejection).await? >= MAX_COUNTED {
            app.memory.fill(name);
        }
        Ok::<_, store::Error>(())
    };
    if let Err(error) = counted.await {
        tracing::warn!(%error, "a rejected sign-up was not counted");
    }
}
