//! The tokens of a project's quota that are taken to serve one of the project's queues.

use flows::App;
use model::outbox::quota::tokens;
use store::outbox::transition::OutboxMove;
use store::outbox::work::Queue;

/// Tokens taken for the emails of a queue.
pub(crate) struct Tokens<'a> {
    app: &'a App,
    queue: &'a Queue,
    /// The number of all tokens that were taken, and the number of tokens that have not been spent
    /// on an email yet.
    taken: usize,
    left: usize,
}

fn small(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

impl<'a> Tokens<'a> {
    /// Takes up to one token for each email in the queue. If there is no quota, takes exactly one
    /// token for each email.
    pub(crate) async fn take(app: &'a App, queue: &'a Queue) -> Result<Self, store::Error> {
        let mut tokens = Self { app, queue, taken: 0, left: 0 };
        tokens.take_more(queue.entries.len()).await?;
        Ok(tokens)
    }

    async fn take_more(&mut self, wanted: usize) -> Result<(), store::Error> {
        let (app, queue) = (self.app, self.queue);
        let granted = match app.settings.mails_per_hour {
            Some(base) => app.store.take_mail_tokens(queue, small(wanted), base, app.clock.now()).await? as usize,
            None => wanted,
        };
        self.taken += granted;
        self.left += granted;
        Ok(())
    }

    /// The number of tokens that have not been spent yet.
    pub(crate) fn left(&self) -> usize {
        self.left
    }

    /// Spends tokens on the first emails in `claims`, as many as may be sent now, and returns the
    /// emails for which it has spent tokens. An email to several addresses costs more tokens. If
    /// the bucket does not contain enough tokens, the project owes the missing tokens.
    pub(crate) async fn spend(&mut self, mut claims: Vec<OutboxMove>) -> Result<Vec<OutboxMove>, store::Error> {
        let cost: usize = claims.iter().map(|claim| tokens(&claim.row.entry)).sum();
        if cost > self.left {
            self.take_more(cost - self.left).await?;
        }
        let mut count = 0;
        for claim in &claims {
            let cost = tokens(&claim.row.entry);
            let owed = cost.saturating_sub(self.left);
            if self.left == 0 || owed > 0 && !self.app.store.owe_mail_tokens(self.queue, small(owed)).await? {
                break;
            }
            self.taken += owed;
            self.left = self.left + owed - cost;
            count += 1;
        }
        claims.truncate(count);
        Ok(claims)
    }

    /// Returns the tokens of emails that were not sent. An email is not sent if it has expired, was
    /// edited or claimed by another worker in the meantime, if time was up, or if the email's task
    /// failed. `sent` counts an email once for each of its addresses.
    pub(crate) async fn give_back(self, sent: usize) -> Result<(), store::Error> {
        let left = small(self.taken.saturating_sub(sent));
        if left > 0 && self.app.settings.mails_per_hour.is_some() {
            self.app.store.give_mail_tokens_back(self.queue, left).await?;
        }
        Ok(())
    }
}
