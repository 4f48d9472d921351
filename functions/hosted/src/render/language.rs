//! The languages of the pages. Each language has a catalog in `texts/`, which is a JSON file.
//! Adding a language takes only one line of code, in this file.
//!
//! The crate `fluent-langneg` would add the subtags of all languages, although a few lines of code
//! are enough to choose among a few languages.

use std::sync::LazyLock;

use http::{HeaderMap, header};
use minijinja::Value;
use minijinja::value::Serde;
use serde_json::{Map, Value as Json};

/// A language, identified by its position in [`LANGUAGES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Language(usize);

/// A language's tag (BCP 47), the direction of its script, and its catalog.
struct Catalog {
    tag: &'static str,
    direction: &'static str,
    texts: &'static str,
}

const ENGLISH: &str = include_str!("../texts/en.json");

const LANGUAGES: [Catalog; 2] = [
    Catalog { tag: "en", direction: "ltr", texts: ENGLISH },
    Catalog { tag: "de", direction: "ltr", texts: include_str!("../texts/de.json") },
];

/// The tag of the pseudo-language for development, which shows whether long texts fit and whether a
/// page works from right to left. `XB` is CLDR's region for right-to-left pseudo-languages.
const PSEUDO: &str = "ar-XB";

static TEXTS: [LazyLock<Value>; 3] = [
    LazyLock::new(|| parsed(LANGUAGES[0].texts)),
    LazyLock::new(|| parsed(LANGUAGES[1].texts)),
    LazyLock::new(|| Value::from(Serde(pseudo(&serde_json::from_str(ENGLISH).unwrap_or_default())))),
];

fn parsed(catalog: &str) -> Value {
    Value::from(Serde(serde_json::from_str::<Json>(catalog).unwrap_or_default()))
}

impl Language {
    /// The language of a page: one of `ui_locales` (OpenID Connect Core §3.1.2.1), otherwise a
    /// language that the browser prefers, and otherwise English.
    pub(crate) fn choose(ui_locales: Option<&str>, headers: &HeaderMap, is_development: bool) -> Self {
        let asked = ui_locales.unwrap_or_default().split_ascii_whitespace().map(str::to_owned);
        let accepted = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let mut chosen = asked.chain(by_preference(accepted)).filter_map(|tag| Self::of(&tag, is_development));
        chosen.next().unwrap_or(Self(0))
    }

    fn of(tag: &str, is_development: bool) -> Option<Self> {
        if is_development && tag.eq_ignore_ascii_case(PSEUDO) {
            return Some(Self(LANGUAGES.len()));
        }
        let primary = tag.split('-').next().unwrap_or_default();
        LANGUAGES.iter().position(|language| language.tag.eq_ignore_ascii_case(primary)).map(Self)
    }

    pub(crate) fn texts(self) -> Value {
        TEXTS.get(self.0).map(|texts| Value::clone(texts)).unwrap_or_default()
    }

    pub(crate) fn tag(self) -> &'static str {
        LANGUAGES.get(self.0).map_or(PSEUDO, |language| language.tag)
    }

    pub(crate) fn direction(self) -> &'static str {
        LANGUAGES.get(self.0).map_or("rtl", |language| language.direction)
    }
}

/// The languages of `Accept-Language` (RFC 9110 §12.5.4) in order of preference.
fn by_preference(header: &str) -> impl Iterator<Item = String> + use<> {
    let mut weighted: Vec<(u16, String)> = header
        .split(',')
        .take(20)
        .filter_map(|part| {
            let (tag, weight) = part.split_once(";q=").unwrap_or((part, "1"));
            let weight: f32 = weight.trim().parse().ok().filter(|weight| (0.0..=1.0).contains(weight))?;
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1000")]
            Some(((weight * 1000.0) as u16, tag.trim().to_owned()))
        })
        .filter(|(weight, _)| *weight > 0)
        .collect();
    weighted.sort_by_key(|(weight, _)| std::cmp::Reverse(*weight));
    weighted.into_iter().map(|(_, tag)| tag)
}

/// The English texts, made a third longer and shown from right to left.
fn pseudo(texts: &Json) -> Json {
    match texts {
        Json::Object(fields) => Json::Object(fields.iter().map(|(name, text)| (name.clone(), pseudo(text))).collect::<Map<_, _>>()),
        Json::String(text) => Json::String(format!("\u{202e}{text} {}\u{202c}", "·~".repeat(text.chars().count() / 6 + 1))),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn chosen(ui_locales: Option<&str>, accept: &'static str) -> &'static str {
        let headers = HeaderMap::from_iter([(header::ACCEPT_LANGUAGE, HeaderValue::from_static(accept))]);
        Language::choose(ui_locales, &headers, false).tag()
    }

    #[test]
    fn the_first_known_language_is_chosen() {
        for (ui_locales, accept, tag) in [
            (None, "", "en"),
            (None, "fr, de-CH;q=0.8, en;q=0.7", "de"),
            (None, "de;q=0.3, en-GB", "en"),
            (None, "de;q=0, fr", "en"),
            (None, "de;q=x", "en"),
            (Some("fr DE"), "en", "de"),
            (Some("xx"), "de", "de"),
            (Some("ar-XB"), "", "en"),
        ] {
            assert_eq!(chosen(ui_locales, accept), tag, "{ui_locales:?} {accept}");
        }
        assert_eq!(Language::choose(Some("ar-XB"), &HeaderMap::new(), true).direction(), "rtl");
    }

    /// The paths of all texts, each with its placeholders.
    fn shape(texts: &Json, path: &str, found: &mut Vec<String>) {
        match texts {
            Json::Object(fields) => fields.iter().for_each(|(name, text)| shape(text, &format!("{path}.{name}"), found)),
            Json::String(text) => {
                let mut names: Vec<_> = text.split('{').skip(1).filter_map(|rest| rest.split_once('}').map(|(name, _)| name)).collect();
                names.sort_unstable();
                found.push(format!("{path} {names:?}"));
            }
            other => panic!("{path}: {other}"),
        }
    }

    #[test]
    fn every_catalog_has_the_same_texts_with_the_same_placeholders() {
        let shapes = LANGUAGES.map(|language| {
            let mut found = Vec::new();
            shape(&serde_json::from_str(language.texts).expect("JSON"), "", &mut found);
            found.sort();
            found
        });
        assert_eq!(shapes[0], shapes[1]);
    }
}
