//! Mails of a test: the worker is run by hand, so that a test decides when.

use jiff::SignedDuration;

use crate::{TestApp, record, secrets};

/// A mail in the inbox.
#[derive(Debug, Clone)]
pub struct Mail(pub gateway::inbox::Message);

impl TestApp {
    /// Runs the outbox worker until nothing is due.
    pub async fn deliver(&self) {
        let until = self.now() + SignedDuration::from_hours(1);
        workers::outbox::drain(&self.app, &self.inbox, until).await.unwrap();
    }

    /// Delivers, and gives the mails to an address, newest first.
    pub async fn mails(&self, to: &str) -> Vec<Mail> {
        self.deliver().await;
        let mails = self.inbox.messages(Some(to));
        record::secrets(mails.iter().flat_map(|mail| secrets::of_text(&mail.text)));
        mails.into_iter().map(Mail).collect()
    }

    /// Delivers, and gives the newest mail to an address.
    pub async fn last_mail(&self, to: &str) -> Mail {
        self.mails(to).await.into_iter().next().unwrap_or_else(|| panic!("no mail to {to}"))
    }
}

impl Mail {
    /// The link in the text.
    pub fn link(&self) -> String {
        let word = self.0.text.split_whitespace().find(|word| word.starts_with("http"));
        word.unwrap_or_else(|| panic!("no link in {}", self.0.text)).to_owned()
    }

    /// The code in the link.
    pub fn code(&self) -> String {
        let link = url::Url::parse(&self.link()).unwrap();
        link.query_pairs().find(|(name, _)| name == "code").unwrap().1.into_owned()
    }
}
