//! Reads a window of the posts, fetching only the pages that contain it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use jiff::Timestamp;
use model::content::{BlogPost, Window};

use crate::content::head::Head;
use crate::content::posts::Page;
use crate::table::{Error, Store};

/// The range of post numbers on each page, computed from the number of posts on each page.
fn ranges(counts: &[usize]) -> Vec<Range<usize>> {
    let mut end = 0;
    let range = |count: &usize| {
        let start = end;
        end += count;
        start..end
    };
    counts.iter().map(range).collect()
}

/// The number of future posts, as far as these pages show. Future posts are the newest, so they
/// come before all public posts.
fn later(pages: &BTreeMap<usize, Page>, ranges: &[Range<usize>], now: Timestamp) -> usize {
    let on_page = |(number, page): (&usize, &Page)| {
        let count = page.posts.iter().filter(|post| !post.is_public(now)).count();
        if count == 0 { 0 } else { ranges[*number].start + count }
    };
    pages.iter().map(on_page).max().unwrap_or(0)
}

/// The numbers of the pages that contain the posts of a window or the newest public post, which
/// comes after `later` future posts.
fn wanted(ranges: &[Range<usize>], later: usize, window: Window) -> BTreeSet<usize> {
    let start = later.saturating_add(window.skip);
    let end = start.saturating_add(window.max);
    let has = |page: &Range<usize>| (page.start < end && page.end > start) || page.contains(&later);
    ranges.iter().enumerate().filter(|(_, page)| has(page)).map(|(number, _)| number).collect()
}

impl Store {
    /// A window of the posts that are public at `now`, and the total number of public posts. Costs
    /// one round trip, or more if the pages contain future posts. A window after the last post does
    /// not cost a round trip, and the total then includes future posts.
    pub(super) async fn posts_of(&self, head: &Head, now: Timestamp, window: Window) -> Result<(Vec<BlogPost>, usize), Error> {
        let publication = &head.publication;
        if publication.counts.len() != publication.pages.len() {
            return self.posts_without_counts(head, now, window).await;
        }
        let ranges = ranges(&publication.counts);
        let count = ranges.last().map_or(0, |last| last.end);
        if window.skip > 0 && window.skip >= count {
            return Ok((Vec::new(), count));
        }
        let mut pages: BTreeMap<usize, Page> = BTreeMap::new();
        let later = loop {
            let later = later(&pages, &ranges, now);
            let missing: Vec<usize> = wanted(&ranges, later, window).into_iter().filter(|number| !pages.contains_key(number)).collect();
            if missing.is_empty() {
                break later;
            }
            let keys: Vec<String> = missing.iter().map(|number| publication.pages[*number].clone()).collect();
            pages.extend(missing.into_iter().zip(self.pages(head, &keys).await?));
        };
        let start = later.saturating_add(window.skip);
        let numbered = pages.into_iter().flat_map(|(number, page)| (ranges[number].start..).zip(page.posts));
        let shown = numbered.filter(|(number, _)| *number >= start).map(|(_, post)| post).take(window.max).collect();
        Ok((shown, count.saturating_sub(later)))
    }

    /// Like [`Self::posts_of`], but for publications from earlier versions, which do not record how
    /// many posts each page has. Reads all pages.
    async fn posts_without_counts(&self, head: &Head, now: Timestamp, window: Window) -> Result<(Vec<BlogPost>, usize), Error> {
        let pages = self.pages(head, &head.publication.pages).await?;
        let public: Vec<BlogPost> = pages.into_iter().flat_map(|page| page.posts).filter(|post| post.is_public(now)).collect();
        let total = public.len();
        Ok((public.into_iter().skip(window.skip).take(window.max).collect(), total))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_needs_its_own_pages_and_the_one_with_the_newest_public_post() {
        let ranges = ranges(&[3, 4, 5, 2]);
        assert_eq!(ranges, [0..3, 3..7, 7..12, 12..14]);
        let pages = |later, skip, max| wanted(&ranges, later, Window { skip, max }).into_iter().collect::<Vec<_>>();
        assert_eq!(pages(0, 0, 3), [0]);
        assert_eq!(pages(0, 0, 4), [0, 1]);
        assert_eq!(pages(0, 7, 5), [0, 2]);
        assert_eq!(pages(2, 7, 5), [0, 2, 3]);
        assert_eq!(pages(3, 0, 1), [1]);
        assert_eq!(pages(0, usize::MAX, usize::MAX), [0]);
        assert_eq!(pages(0, 0, usize::MAX), [0, 1, 2, 3]);
        assert_eq!(pages(14, 0, 9), [0_usize; 0]);
    }
}
