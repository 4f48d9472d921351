//! Counts a request while its claims are verified.

use futures_util::future::{try_join, try_join_all};
use model::limit::{Counter, Limit, Rule, Subject, SubjectKind};
use model::place::Place;
use store::limit::{self, judge};
use store::{Items, Key};
use wire::id::ProjectId;

use crate::app::App;

/// A request that is counted while its claims are verified.
pub struct RequestCount<'a> {
    pub(super) app: &'a App,
    pub(super) project: &'a ProjectId,
    pub(super) counters: Vec<Counter>,
    /// The counters that are first counted in memory.
    pub(super) batched: Vec<Counter>,
    /// How many times the batched counters count the request.
    pub(super) weight: u32,
    /// The key that must be proved for the caller's counter; `None` if that counter does not need a
    /// key.
    pub(super) proved_by: Option<Subject>,
    pub(super) is_after_proof: bool,
}

/// The result of counting concurrently with reading the table: the count of each counter, or `None`
/// if the request has not been counted yet.
#[derive(Debug)]
#[must_use]
pub struct EarlyCounts(Option<Vec<u32>>);

impl<'a> RequestCount<'a> {
    pub(super) fn new(app: &'a App, project: &'a ProjectId) -> Self {
        Self { app, project, counters: Vec::new(), batched: Vec::new(), weight: 1, proved_by: None, is_after_proof: false }
    }

    /// A client's request, counted by IP address and network, for an operation without an `Access`.
    pub fn by_place(app: &'a App, project: &'a ProjectId, limit: Limit, place: &Place) -> Self {
        let mut counting = Self::new(app, project);
        for (rule, by) in limit.early_rules(true) {
            match by {
                SubjectKind::Address => counting.add(*rule, &Subject::address(place.ip)),
                SubjectKind::Network => counting.add(*rule, &Subject::network(place.ip)),
                SubjectKind::Project | SubjectKind::ApiKey | SubjectKind::Caller | SubjectKind::User | SubjectKind::Session => {}
            }
        }
        counting
    }

    pub(super) fn add(&mut self, rule: Rule, subject: &Subject) {
        let counter = self.app.settings.limits.counter(rule, subject, self.app.clock.now());
        if rule.is_batched() { &mut self.batched } else { &mut self.counters }.extend(counter);
    }

    /// The keys to read before calling [`Self::settle`].
    pub fn keys(&self) -> impl Iterator<Item = Key> {
        self.counters.iter().map(|counter| limit::key_before(self.project, counter))
    }

    /// Counts concurrently with reading the table, unless the request must be counted after the
    /// proof or its project or key is not known to exist. Fails if a counter is known to be full.
    pub async fn early(&self) -> Result<EarlyCounts, store::Error> {
        for counter in self.counters.iter().chain(&self.batched) {
            if let Some(refusal) = self.app.memory.refusal(self.project, counter) {
                return Err(store::Error::Limited(refusal));
            }
        }
        if self.is_after_proof || !self.is_known() {
            return Ok(EarlyCounts(None));
        }
        Ok(EarlyCounts(Some(self.count().await?)))
    }

    /// Counts the request after its claims have been proved, unless it was counted early, and
    /// decides whether to refuse the request.
    pub async fn settle(&self, early: EarlyCounts, items: &Items) -> Result<(), store::Error> {
        self.remember();
        let counted = match early.0 {
            Some(counted) => counted,
            None => self.count().await?,
        };
        for (counter, counted) in self.counters.iter().zip(counted) {
            let before = limit::counted(items.get(&limit::key_before(self.project, counter)).as_ref());
            self.told(counter, judge(counter, before, counted))?;
        }
        Ok(())
    }

    async fn count(&self) -> Result<Vec<u32>, store::Error> {
        let count = async |counter| self.told(counter, self.app.store.count_alone(self.project, counter).await);
        let batch = async |counter| self.told(counter, self.batch(counter).await);
        let (counted, _) = try_join(try_join_all(self.counters.iter().map(count)), try_join_all(self.batched.iter().map(batch))).await?;
        Ok(counted)
    }

    /// Counts the request in memory, and from time to time in the table.
    async fn batch(&self, counter: &Counter) -> Result<(), store::Error> {
        let count = self.app.memory.batch(self.project, counter, self.weight).map_err(store::Error::Limited)?;
        if count == 0 {
            return Ok(());
        }
        let (before, counted) = self.app.store.add(self.project, counter, count).await?;
        self.app.memory.carried(self.project, counter, before, counted);
        // The count includes this request, so only later requests are refused. Other processes get
        // the count when they add their own requests to it.
        Ok(())
    }

    /// Remembers a refusal.
    fn told<T>(&self, counter: &Counter, result: Result<T, store::Error>) -> Result<T, store::Error> {
        if let Err(store::Error::Limited(refusal)) = &result {
            self.app.memory.refused(self.project, counter, *refusal);
        }
        result
    }

    fn is_known(&self) -> bool {
        let key = self.key_name();
        self.app.memory.has_seen(self.project.as_str()) && key.is_none_or(|name| self.app.memory.has_seen(&name))
    }

    fn remember(&self) {
        self.app.memory.saw(self.project.as_str());
        if let Some(name) = self.key_name() {
            self.app.memory.saw(&name);
        }
    }

    fn key_name(&self) -> Option<String> {
        self.proved_by.as_ref().map(|key| format!("{}#{key}", self.project))
    }
}
