//! The fields of a query or a form.

use api::pages::FormFields;
use url::form_urlencoded;

/// The longest value that is kept, in bytes.
const MAX_VALUE: usize = 16 * 1024;

/// Fields with their values; of repeated ones, the first counts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fields(Vec<(String, String)>);

impl Fields {
    pub(crate) fn of_query(query: &str) -> Self {
        Self(form_urlencoded::parse(query.as_bytes()).into_owned().filter(|(_, value)| value.len() <= MAX_VALUE).collect())
    }

    pub(crate) fn of_form(form: &FormFields) -> Self {
        Self(form.0.iter().filter(|(_, value)| value.len() <= MAX_VALUE).cloned().collect())
    }

    /// The value of a field; `None` if it is absent or empty.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// The value of a field; empty if it is absent.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.get(name).unwrap_or_default()
    }

    /// These fields without those with a name in `names`.
    pub(crate) fn without(&self, names: &[&str]) -> Self {
        Self(self.0.iter().filter(|(name, _)| !names.contains(&name.as_str())).cloned().collect())
    }

    /// The fields with a name in `names`, each once.
    pub(crate) fn only(&self, names: &[&str]) -> Self {
        let first = |name: &&str| self.0.iter().find(|(field, _)| field == *name).cloned();
        Self(names.iter().filter_map(first).collect())
    }

    /// The fields whose names begin with `prefix`, without it.
    pub(crate) fn below(&self, prefix: &str) -> Self {
        let fields = self.0.iter().filter_map(|(name, value)| Some((name.strip_prefix(prefix)?.to_owned(), value.clone())));
        Self(fields.collect())
    }

    /// All names with their values.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// These fields, and those of `others` that they lack.
    pub(crate) fn or(mut self, others: &Self) -> Self {
        let missing = others.0.iter().filter(|(name, _)| self.get(name).is_none()).cloned().collect::<Vec<_>>();
        self.0.extend(missing);
        self
    }

    /// These fields and one more.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.0.retain(|(field, _)| field != name);
        self.0.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The fields as a query.
    pub(crate) fn query(&self) -> String {
        form_urlencoded::Serializer::new(String::new()).extend_pairs(&self.0).finish()
    }
}
