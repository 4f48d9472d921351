//! An operation: its route, and what its handler says of itself.

use api::http::{Description, Route};

/// An operation as the tools see it.
#[derive(Clone)]
pub struct Operation {
    pub route: Route,
    pub description: Description,
}

impl Operation {
    /// The first word of the name, and the folder of the area below `functions/`.
    pub fn area(&self) -> &'static str {
        self.route.name.split('-').next().unwrap_or(self.route.name)
    }

    /// The name without its area, as in `events/<area>/<this>.json`.
    pub fn short_name(&self) -> &'static str {
        self.route.name.split_once('-').map_or(self.route.name, |(_, name)| name)
    }
}
