//! Finds apps and posts by keywords, in an index built once per publication. The words of a query
//! are compared with each distinct word of the content instead of each text.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::content::Content;
use crate::text::folded::{MAX_SEARCHED_WORDS, folded};

/// The maximum number of apps and posts in a result.
const MAX_HITS: usize = 20;

/// An app or a post that matches the query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchHit {
    /// `app` or `post`.
    pub kind: &'static str,
    /// The name of the app, or the title of the post.
    pub title: String,
    /// The absolute URL.
    pub url: String,
    /// The subtitle of the app, or the excerpt of the post.
    pub summary: String,
}

impl SearchHit {
    /// The match as JSON.
    pub fn json(&self) -> Value {
        json!({ "kind": self.kind, "title": self.title, "url": self.url, "summary": self.summary })
    }
}

/// The words of a folded text that have at least two characters.
fn words(folded: &str) -> impl Iterator<Item = &str> {
    folded.split(|character: char| !character.is_alphanumeric()).filter(|word| word.chars().count() > 1)
}

/// The index of the words in a content's names, titles and excerpts.
#[derive(Debug, Default)]
pub struct Index {
    /// Each distinct word, with the positions of the apps and posts that contain it: apps before
    /// posts, both in the order of the content.
    words: Vec<(String, Vec<usize>)>,
}

impl Index {
    /// The index of this content.
    pub fn of(content: &Content) -> Self {
        let mut index: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for position in 0..content.apps.len() + content.blog_posts.len() {
            let SearchHit { kind, title, summary, .. } = found(content, position);
            let text = folded(&format!("{kind}s {title} {summary}"));
            let distinct: BTreeSet<&str> = words(&text).collect();
            for word in distinct {
                index.entry(word.to_owned()).or_default().push(position);
            }
        }
        Self { words: index.into_iter().collect() }
    }

    /// The apps and posts of the indexed content that contain at least one word of the query, at
    /// most 20, leaving out the `later` newest posts. Only the first 16 words of the query count.
    /// The word `apps` matches every app, and `posts` every post. Results that contain more of the
    /// words come first; among equal results, apps precede posts, and newer posts precede older
    /// ones.
    pub fn find(&self, content: &Content, later: usize, query: &str) -> Vec<SearchHit> {
        let apps = content.apps.len();
        let query = folded(query);
        let wanted: BTreeSet<&str> = words(&query).take(MAX_SEARCHED_WORDS).collect();
        let mut counts = vec![0_usize; apps + content.blog_posts.len()];
        for word in wanted {
            let mut has = vec![false; counts.len()];
            for (_, positions) in self.words.iter().filter(|(other, _)| other.contains(word)) {
                for position in positions {
                    has[*position] = true;
                }
            }
            for (count, has) in counts.iter_mut().zip(has) {
                *count += usize::from(has);
            }
        }
        let is_later = apps..apps + later;
        let mut matching: Vec<(usize, usize)> =
            counts.into_iter().enumerate().filter(|(position, count)| *count > 0 && !is_later.contains(position)).collect();
        matching.sort_by_key(|(_, count)| Reverse(*count));
        matching.into_iter().take(MAX_HITS).map(|(position, _)| found(content, position)).collect()
    }
}

/// The app or the post at a position of the index.
fn found(content: &Content, position: usize) -> SearchHit {
    if let Some(app) = content.apps.get(position) {
        return SearchHit { kind: "app", title: app.display_name.clone(), url: app.url.clone(), summary: app.subtitle.clone() };
    }
    let post = &content.blog_posts[position - content.apps.len()];
    SearchHit { kind: "post", title: post.title.clone(), url: post.url.clone(), summary: post.excerpt.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::{App, BlogPost};

    /// Two apps, and one post for each of these titles.
    fn content(titles: &[String]) -> Content {
        let app = |name: &str| App {
            id: name.to_owned(),
            display_name: name.to_owned(),
            subtitle: "Keeps what was decided".to_owned(),
            url: format!("https://example.com/{name}"),
        };
        let post = |title: &String| BlogPost {
            slug: title.clone(),
            title: title.clone(),
            published_at: "2026-01-02T03:04:05Z".to_owned(),
            excerpt: "What the Boards of İzmir decided".to_owned(),
            url: format!("https://example.com/blog/{title}"),
        };
        let blog_posts = titles.iter().map(post).collect();
        Content { apps: vec![app("Notes"), app("Board")], blog_posts, ..Content::unpublished("https://example.com") }
    }

    fn titles(content: &Content, later: usize, query: &str) -> Vec<String> {
        Index::of(content).find(content, later, query).into_iter().map(|found| found.title).collect()
    }

    #[test]
    fn more_matching_words_rank_higher_and_a_query_without_words_finds_nothing() {
        let content = content(&[]);
        let titles = |query| titles(&content, 0, query);
        assert_eq!(titles("the BOARD, decided?"), ["Board", "Notes"]);
        assert_eq!(titles("notes"), ["Notes"]);
        assert!(["", "a ! ?", "zebra"].map(titles).concat().is_empty());
    }

    #[test]
    fn a_word_matches_parts_of_words_and_counts_once() {
        let content = content(&["First".to_owned(), "Second".to_owned()]);
        let titles = |query| titles(&content, 0, query);
        assert_eq!(titles("oar"), ["Board", "First", "Second"]);
        assert_eq!(titles("İzmir"), ["First", "Second"]);
        assert_eq!(titles("second decided decided decided notes"), ["Notes", "Second", "Board", "First"]);
        assert_eq!(titles("apps"), ["Notes", "Board"]);
        assert_eq!(titles("posts"), ["First", "Second"]);
    }

    #[test]
    fn a_search_minds_neither_case_nor_accents() {
        let content = content(&["Ana Núñez".to_owned(), "E\u{301}mile".to_owned(), "Straße".to_owned()]);
        for (query, found) in [("nunez", "Ana Núñez"), ("NÚÑEZ", "Ana Núñez"), ("émile", "E\u{301}mile"), ("STRASSE", "Straße")] {
            assert_eq!(titles(&content, 0, query), [found], "{query}");
        }
        assert_eq!(titles(&content, 0, "izmir").len(), 3);
    }

    #[test]
    fn at_most_20_are_found_and_none_of_the_later_ones() {
        let numbers: Vec<String> = (0..30).map(|number| format!("Number {number}")).collect();
        let content = content(&numbers);
        assert_eq!(titles(&content, 0, "number"), numbers[..20]);
        assert_eq!(titles(&content, 25, "number decided"), [&numbers[25..], &["Notes".to_owned(), "Board".to_owned()]].concat());
        assert_eq!(titles(&content, 30, "number"), [""; 0]);
    }
}
