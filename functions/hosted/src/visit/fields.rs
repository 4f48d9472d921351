//! The fields of a query or a form.

use api::pages::FormFields;
use url::form_urlencoded;

/// The maximum length of a value, in bytes. Longer values are dropped.
const MAX_VALUE: usize = 16 * 1024;

/// Fields with their values. If a field is repeated, its first value is used.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fields(Vec<(String, String)>);

impl Fields {
    pub(crate) fn of_query(query: &str) -> Self {
        Self(form_urlencoded::parse(query.as_bytes()).into_owned().filter(|(_, value)| value.len() <= MAX_VALUE).collect())
    }

    pub(crate) fn of_form(form: &FormFields) -> Self {
        Self(form.0.iter().filter(|(_, value)| value.len() <= MAX_VALUE).cloned().collect())
    }

    /// The value of a field. `None` if the field is absent or empty.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// The value of a field. Empty if the field is absent.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.get(name).unwrap_or_default()
    }

    /// The fields whose names are not in `names`.
    pub(crate) fn without(&self, names: &[&str]) -> Self {
        Self(self.0.iter().filter(|(name, _)| !names.contains(&name.as_str())).cloned().collect())
    }

    /// The fields whose names are in `names`. Each name occurs once.
    pub(crate) fn only(&self, names: &[&str]) -> Self {
        let first = |name: &&str| self.0.iter().find(|(field, _)| field == *name).cloned();
        Self(names.iter().filter_map(first).collect())
    }

    /// The fields whose names begin with `prefix`, with the prefix removed.
    pub(crate) fn below(&self, prefix: &str) -> Self {
        let fields = self.0.iter().filter_map(|(name, value)| Some((name.strip_prefix(prefix)?.to_owned(), value.clone())));
        Self(fields.collect())
    }

    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Adds the fields of `others` that `self` does not have.
    pub(crate) fn or(mut self, others: &Self) -> Self {
        let missing = others.0.iter().filter(|(name, _)| self.get(name).is_none()).cloned().collect::<Vec<_>>();
        self.0.extend(missing);
        self
    }

    /// Sets a field, replacing an earlier value.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.0.retain(|(field, _)| field != name);
        self.0.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The fields, form-encoded as a query.
    pub(crate) fn query(&self) -> String {
        form_urlencoded::Serializer::new(String::new()).extend_pairs(&self.0).finish()
    }
}
