//! Placeholders for variables without a value, used to try a template before the values are known.

use std::fmt;
use std::sync::Arc;

use minijinja::Value;
use minijinja::value::{Enumerator, Object, ObjectRepr};

/// The maximum depth of nested placeholder lists, so that loops over them end.
const DEPTH: u8 = 4;

/// The variables of an email, with placeholders for those without a value.
#[derive(Debug)]
pub(crate) struct Variables(pub(crate) Value);

/// Replaces an unknown value. A placeholder renders as its name, its fields are placeholders, and a
/// loop over it runs once. The filter `default` replaces a placeholder.
#[derive(Debug)]
pub(crate) struct Placeholder {
    name: Value,
    depth: u8,
}

impl Object for Variables {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let known = self.0.get_item(key).ok().filter(|value| !value.is_undefined());
        Some(known.unwrap_or_else(|| Placeholder { name: key.clone(), depth: DEPTH }.into()))
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        self.0.try_iter().map_or(Enumerator::Empty, |keys| Enumerator::Values(keys.collect()))
    }
}

impl From<Placeholder> for Value {
    fn from(placeholder: Placeholder) -> Self {
        Self::from_object(placeholder)
    }
}

impl Object for Placeholder {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        if self.depth == 0 { ObjectRepr::Plain } else { ObjectRepr::Iterable }
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        key.as_str()?;
        Some(Self { name: key.clone(), depth: self.depth }.into())
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        match self.depth.checked_sub(1) {
            Some(depth) => Enumerator::Values(vec![Self { name: self.name.clone(), depth }.into()]),
            None => Enumerator::NonEnumerable,
        }
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.name, f)
    }
}

/// Whether a value is a placeholder.
pub(crate) fn is_placeholder(value: &Value) -> bool {
    value.downcast_object_ref::<Placeholder>().is_some()
}
