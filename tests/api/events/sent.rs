//! The changes that the event of each operation makes in the world of the events. Each event is
//! sent once for all tests that examine its effects.

use std::collections::BTreeMap;

use infra::Operation;
use model::limit::Limits;
use support::{Answer, Rows};
use tokio::sync::OnceCell;

use super::{World, events};

/// An event that was sent to a new service with the events' data.
pub(crate) struct SentEvent {
    pub(crate) answer: Answer,
    /// The calls to the table, as DynamoDB operations and bodies.
    pub(crate) calls: Vec<(String, String)>,
    /// The changed items before and after the request.
    pub(crate) changed: [Rows; 2],
}

/// All sent events, by operation.
pub(crate) struct SentEvents(BTreeMap<String, SentEvent>);

impl SentEvents {
    pub(crate) async fn get() -> &'static Self {
        static ALL: OnceCell<SentEvents> = OnceCell::const_new();
        ALL.get_or_init(Self::send).await
    }

    async fn send() -> Self {
        let mut all = BTreeMap::new();
        for (name, event) in events() {
            let world = World::new(Limits::standard()).await;
            let before = world.app.rows();
            world.app.recorder.clear();
            let answer = world.send(&event).await;
            let (calls, after) = (world.app.recorder.calls(), world.app.rows());
            let keys = before.changed(&after);
            let changed = [&before, &after].map(|rows| rows.only(|key, _| keys.contains(key)));
            all.insert(name, SentEvent { answer, calls, changed });
        }
        Self(all)
    }

    pub(crate) fn event(&self, operation: &Operation) -> &SentEvent {
        let name = operation.route.name;
        self.0.get(name).unwrap_or_else(|| panic!("{name} has no event"))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&String, &SentEvent)> {
        self.0.iter()
    }
}
