//! An operation as the tools see it: its route, and the description that is derived from its
//! handler.

use api::http::{Description, Route};

#[derive(Clone)]
pub struct Operation {
    pub route: Route,
    pub description: Description,
}

impl Operation {
    /// The area of the operation, which is the first word of its name and the name of its folder in
    /// `functions/`.
    pub fn area(&self) -> &'static str {
        self.route.name.split('-').next().unwrap_or(self.route.name)
    }

    /// The name of the operation without its area, as in the names of the files
    /// `events/<area>/<name>.json`.
    pub fn short_name(&self) -> &'static str {
        self.route.name.split_once('-').map_or(self.route.name, |(_, name)| name)
    }
}
