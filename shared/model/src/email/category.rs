//! Categories of emails. Users may unsubscribe from some categories.

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;
use utoipa::ToSchema;
use uuid::{Uuid, uuid};

/// The category of an email. Users may unsubscribe from marketing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema, IntoStaticStr)]
pub enum Category {
    /// Emails that the recipient needs to use the account, such as codes.
    #[default]
    Transactional,
    /// News and offers.
    Marketing,
}

impl Category {
    /// Every category.
    pub const ALL: [Self; 2] = [Self::Transactional, Self::Marketing];

    /// The name of the category on the wire.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether users may unsubscribe from the category.
    pub fn can_be_refused(self) -> bool {
        self == Self::Marketing
    }

    /// The fixed id of the category in published SDKs.
    pub fn id(self) -> Uuid {
        match self {
            Self::Transactional => uuid!("7bb82d33-2f54-4a3d-9d23-82739e0d66ef"),
            Self::Marketing => uuid!("4f6f8873-3d04-46bd-8bef-18338b1a1b4c"),
        }
    }

    /// Parses the name of a category on the wire.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|category| category.name() == name)
    }
}

wire::deserr_from!(Category, String, |name| Self::parse(&name).ok_or("must be Transactional or Marketing"));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_category_is_found_by_its_name() {
        assert_eq!(Category::parse("Marketing"), Some(Category::Marketing));
        assert_eq!(Category::parse("marketing"), None);
    }
}
