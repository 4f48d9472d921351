//! Short forms in which the table stores the fields of an outbox entry. The longer forms that
//! earlier versions wrote can still be read.

use std::collections::BTreeMap;

use crypto::seal::SealedText;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::Uuid;
use wire::id::EmailId;

use crate::document::theme::DEFAULT_THEME;

/// Whether a value is the default, for which the field is omitted.
pub(super) fn is_usual<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A placeholder for the id until the id is read from the key.
pub(super) fn id_of_key() -> EmailId {
    Uuid::nil().into()
}

/// Stores variables as JSON, with a single character for each masked code.
pub(super) mod variables {
    use serde::de::Error as _;
    use serde::ser::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};
    use serde_json::{Map, Value};

    use crate::outbox::codes::HIDDEN;

    /// This character cannot occur in JSON, which escapes it.
    const MASK: &str = "\u{1}";

    pub(crate) fn serialize<S: Serializer>(variables: &Map<String, Value>, serializer: S) -> Result<S::Ok, S::Error> {
        let json = serde_json::to_string(variables).map_err(S::Error::custom)?;
        serializer.serialize_str(&json.replace(HIDDEN, MASK))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Map<String, Value>, D::Error> {
        let json = String::deserialize(deserializer)?;
        serde_json::from_str(&json.replace(MASK, HIDDEN)).map_err(D::Error::custom)
    }
}

/// Stores sealed codes as bytes, because text takes a third more space.
pub(super) mod codes {
    use super::{BTreeMap, Deserialize, Deserializer, SealedText, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    struct CodeBytes(#[serde(with = "crypto::seal::packed")] SealedText);

    type Codes = Option<BTreeMap<String, SealedText>>;

    pub(crate) fn serialize<S: Serializer>(codes: &Codes, serializer: S) -> Result<S::Ok, S::Error> {
        let packed = |(name, sealed): (&String, &SealedText)| (name.clone(), CodeBytes(sealed.clone()));
        let packed: Option<BTreeMap<String, CodeBytes>> = codes.as_ref().map(|codes| codes.iter().map(packed).collect());
        packed.serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Codes, D::Error> {
        let packed: Option<BTreeMap<String, CodeBytes>> = Option::deserialize(deserializer)?;
        Ok(packed.map(|codes| codes.into_iter().map(|(name, CodeBytes(sealed))| (name, sealed)).collect()))
    }
}

/// Stores the id of a theme, with a shorter name for the default theme.
pub(super) mod theme {
    use serde::de::Error as _;

    use super::{DEFAULT_THEME, Deserialize, Deserializer, Serialize, Serializer, Uuid};

    const DEFAULT: &str = "default";

    #[expect(clippy::ref_option, reason = "serde passes a reference to the field")]
    pub(crate) fn serialize<S: Serializer>(theme: &Option<Uuid>, serializer: S) -> Result<S::Ok, S::Error> {
        let name = |id: Uuid| if id == DEFAULT_THEME { DEFAULT.to_owned() } else { id.to_string() };
        theme.map(name).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Uuid>, D::Error> {
        let name: Option<String> = Option::deserialize(deserializer)?;
        let id = |name: String| if name == DEFAULT { Ok(DEFAULT_THEME) } else { Uuid::try_parse(&name) };
        name.map(id).transpose().map_err(D::Error::custom)
    }
}
