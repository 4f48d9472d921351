//! Finds apps and posts by keywords.

use model::content::Content;
use serde_json::{Value, json};

/// How many apps and posts a search finds at most.
const MOST: usize = 20;
/// How many words of a query are used at most.
const MOST_WORDS: usize = 16;

/// An app or a post that matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// `app` or `post`.
    pub kind: &'static str,
    /// The name of the app, or the title of the post.
    pub title: String,
    /// The absolute URL.
    pub url: String,
    /// The subtitle of the app, or the excerpt of the post.
    pub summary: String,
}

impl Found {
    /// The match as JSON.
    pub fn json(&self) -> Value {
        json!({ "kind": self.kind, "title": self.title, "url": self.url, "summary": self.summary })
    }
}

/// The words of a text, in lower case; at most 16, and none of a single character.
fn words(text: &str) -> Vec<String> {
    let words = text.split(|character: char| !character.is_alphanumeric()).filter(|word| word.chars().count() > 1);
    words.take(MOST_WORDS).map(str::to_lowercase).collect()
}

/// The apps and posts that contain at least one word of a query, at most 20. The word `apps`
/// matches every app, and `posts` every post. Those with more of the words come first; among
/// equals, apps precede posts, and newer posts older ones.
pub fn find(content: &Content, query: &str) -> Vec<Found> {
    let words = words(query);
    let apps = content.apps.iter().map(|app| Found {
        kind: "app",
        title: app.display_name.clone(),
        url: app.url.clone(),
        summary: app.subtitle.clone(),
    });
    let posts = content.blog_posts.iter().map(|post| Found {
        kind: "post",
        title: post.title.clone(),
        url: post.url.clone(),
        summary: post.excerpt.clone(),
    });
    let matching = |found: Found| {
        let text = format!("{}s {} {}", found.kind, found.title, found.summary).to_lowercase();
        let count = words.iter().filter(|word| text.contains(word.as_str())).count();
        (count > 0).then_some((count, found))
    };
    let mut found: Vec<(usize, Found)> = apps.chain(posts).filter_map(matching).collect();
    found.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    found.into_iter().take(MOST).map(|(_, found)| found).collect()
}

#[cfg(test)]
mod tests {
    use model::content::{App, Site};

    use super::*;

    #[test]
    fn more_matching_words_rank_higher_and_a_query_without_words_finds_nothing() {
        let app = |name: &str| App {
            id: name.to_owned(),
            display_name: name.to_owned(),
            subtitle: "Keeps what was decided".to_owned(),
            url: format!("https://example.com/{name}"),
        };
        let site = Site::unpublished("https://example.com");
        let content = Content { site, apps: vec![app("Notes"), app("Board")], ..Content::unpublished("https://example.com") };
        let titles = |query| find(&content, query).into_iter().map(|found| found.title).collect::<Vec<_>>();
        assert_eq!(titles("the BOARD, decided?"), ["Board", "Notes"]);
        assert_eq!(titles("notes"), ["Notes"]);
        assert!(["", "a ! ?", "zebra"].map(titles).concat().is_empty());
    }
}
