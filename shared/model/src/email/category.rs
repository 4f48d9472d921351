//! Kinds of emails, some of which a user may refuse.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::{Uuid, uuid};

/// What a mail is about; users may refuse marketing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub enum Category {
    #[default]
    Transactional,
    Marketing,
}

impl Category {
    pub const ALL: [Self; 2] = [Self::Transactional, Self::Marketing];

    pub fn name(self) -> &'static str {
        match self {
            Self::Transactional => "Transactional",
            Self::Marketing => "Marketing",
        }
    }

    /// Whether users may refuse it.
    pub fn can_be_refused(self) -> bool {
        self == Self::Marketing
    }

    pub fn id(self) -> Uuid {
        match self {
            Self::Transactional => uuid!("7bb82d33-2f54-4a3d-9d23-82739e0d66ef"),
            Self::Marketing => uuid!("4f6f8873-3d04-46bd-8bef-18338b1a1b4c"),
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|category| category.name() == name)
    }
}

impl<E: deserr::DeserializeError> deserr::Deserr<E> for Category {
    fn deserialize_from_value<V: deserr::IntoValue>(value: deserr::Value<V>, location: deserr::ValuePointerRef<'_>) -> Result<Self, E> {
        let name = String::deserialize_from_value(value, location)?;
        Self::parse(&name).ok_or_else(|| wire::problem::rejected("must be Transactional or Marketing", location))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_category_is_found_by_its_name() {
        assert_eq!(Category::parse("Marketing"), Some(Category::Marketing));
        assert_eq!(Category::parse("marketing"), None);
    }
}
