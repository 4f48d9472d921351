//! Changes to the responses of the test provider.

use std::collections::HashMap;

use serde_json::Value;

/// A JSON object in the provider's responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    Metadata,
    Keys,
    TokenAnswer,
    /// The header of ID tokens and of signed userinfo responses.
    Header,
    Claims,
    Userinfo,
}

/// The changed fields of each part. `null` removes a field.
#[derive(Default)]
pub(crate) struct Edits(HashMap<Part, Value>);

impl Edits {
    pub(crate) fn set(&mut self, part: Part, fields: Value) {
        self.0.insert(part, fields);
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// The part after the changes.
    pub(crate) fn apply(&self, part: Part, mut value: Value) -> Value {
        for (name, new) in self.0.get(&part).and_then(Value::as_object).into_iter().flatten() {
            let fields = value.as_object_mut().unwrap();
            if new.is_null() { drop(fields.remove(name)) } else { drop(fields.insert(name.clone(), new.clone())) }
        }
        value
    }
}
