//! Items that are read before the request has proved that it may see them.

use errors::Error;
use model::code::CodeRefusal;

/// An item that a request names by a secret, read before the secret is checked. Until then, the
/// item is only a hint that allows other items to be read early.
#[derive(Debug)]
pub enum PrefetchedItem<T> {
    /// The item was not read, because the request does not name an item or reading failed.
    Unread,
    /// The item does not exist.
    Missing,
    /// The item exists.
    Found(T),
}

impl<T: Clone + PartialEq> PrefetchedItem<T> {
    /// Whether the table was read and the item does not exist.
    pub(crate) fn is_missing(&self) -> bool {
        matches!(self, Self::Missing)
    }

    /// The item. The response must not reveal the item.
    pub fn unproved(&self) -> Option<&T> {
        if let Self::Found(item) = self { Some(item) } else { None }
    }

    /// Checks the secret. Returns the item that the secret proves and the result of `read` for that
    /// item. `read` runs during the check, or after it if the hint was missing or wrong.
    pub async fn prove<I, F: Future<Output = Result<I, store::Error>>>(
        &self,
        check: impl Future<Output = Result<Result<T, CodeRefusal>, store::Error>>,
        read: impl Fn(T) -> F,
    ) -> Result<(T, I), Error> {
        let hint = self.unproved();
        let early = async {
            match hint {
                Some(item) => read(item.clone()).await.map(Some),
                None => Ok(None),
            }
        };
        let (checked, early) = tokio::try_join!(check, early)?;
        let proved = checked?;
        let found = match early.filter(|_| hint == Some(&proved)) {
            Some(found) => found,
            None => read(proved.clone()).await?,
        };
        Ok((proved, found))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    /// Returns the proved item with what was read for it, and all items passed to `read`, in order.
    async fn prove(hint: PrefetchedItem<u8>, checked: Result<u8, CodeRefusal>) -> (Option<(u8, String)>, Vec<u8>) {
        let asked = RefCell::new(Vec::new());
        let read = async |item: u8| {
            asked.borrow_mut().push(item);
            Ok(format!("of {item}"))
        };
        let proved = hint.prove(async { Ok(checked) }, read).await.ok();
        (proved, asked.into_inner())
    }

    #[tokio::test]
    async fn what_was_read_early_is_returned_only_for_the_item_that_is_proved() {
        let of_one = || Some((1, "of 1".to_owned()));
        assert_eq!(prove(PrefetchedItem::Found(1), Ok(1)).await, (of_one(), vec![1]));
        assert_eq!(prove(PrefetchedItem::Found(2), Ok(1)).await, (of_one(), vec![2, 1]), "another item");
        assert_eq!(prove(PrefetchedItem::Missing, Ok(1)).await, (of_one(), vec![1]), "created since then");
        assert_eq!(prove(PrefetchedItem::Unread, Ok(1)).await, (of_one(), vec![1]), "not read");
        assert_eq!(prove(PrefetchedItem::Found(1), Err(CodeRefusal::NotFound)).await, (None, vec![1]));
    }
}
