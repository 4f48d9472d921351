//! A field of a PATCH body: kept, cleared or set.

use deserr::{DeserializeError, Deserr, IntoValue, Value, ValueKind, ValuePointerRef};

/// The change of a nullable field in a PATCH body.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Change<T> {
    /// The field is absent from the body.
    #[default]
    Keep,
    /// The field is `null`.
    Clear,
    /// The field has a new value.
    Set(T),
}

impl<T> Change<T> {
    /// Applies the change to a field; `Keep` leaves the field as it is.
    pub fn apply(self, field: &mut Option<T>) {
        match self {
            Self::Keep => {}
            Self::Clear => *field = None,
            Self::Set(value) => *field = Some(value),
        }
    }

    /// Applies the change to a field; a new value of `None` clears the field.
    pub fn apply_flat<U>(self, field: &mut Option<U>)
    where
        T: Into<Option<U>>,
    {
        match self {
            Self::Keep => {}
            Self::Clear => *field = None,
            Self::Set(value) => *field = value.into(),
        }
    }

    /// Whether the field is absent from the body.
    pub fn is_keep(&self) -> bool {
        matches!(self, Self::Keep)
    }

    /// Converts a new value; `Keep` and `Clear` remain unchanged.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Change<U> {
        match self {
            Self::Keep => Change::Keep,
            Self::Clear => Change::Clear,
            Self::Set(value) => Change::Set(f(value)),
        }
    }
}

impl<T: Deserr<E>, E: DeserializeError> Deserr<E> for Change<T> {
    fn deserialize_from_value<V: IntoValue>(value: Value<V>, location: ValuePointerRef<'_>) -> Result<Self, E> {
        if value.kind() == ValueKind::Null { Ok(Self::Clear) } else { T::deserialize_from_value(value, location).map(Self::Set) }
    }
}
