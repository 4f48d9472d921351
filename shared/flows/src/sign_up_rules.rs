//! Evaluates the sign-up rules of projects in separate threads, so that requests of other projects
//! do not wait for them. Each evaluation has a budget of work ([`model::sign_up`]). This module
//! limits the number of concurrent evaluations and the time that a request waits for its
//! evaluation. A request that waits too long fails, so that nobody signs up without being judged.
//!
//! Projects take turns. A project's evaluations run one after another, and only the first in line
//! waits for a thread. Therefore, however many requests a project has, the next request of another
//! project waits for at most one evaluation of each project already waiting.
//!
//! Compiled rules are kept until the project's rules change.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use errors::KnownError;
use model::project::Project;
use model::sign_up::program::{Facts, Program, Status};
use model::sign_up::rule::{Attempt, SignUpRule};
use model::sign_up::verdict::{Verdict, judge};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use wire::id::ProjectId;

/// The number of threads for evaluating rules.
const THREADS: usize = 2;
/// The maximum number of a project's waiting requests.
const MAX_WAITING: usize = 64;
/// The maximum time that a request waits for its evaluation.
const TIMEOUT: Duration = Duration::from_secs(2);
/// The maximum memory for compiled rules, in bytes. When this memory is full, all compiled rules
/// are dropped.
const MAX_KEPT: usize = 16 << 20;

/// Evaluates the sign-up rules of projects.
#[derive(Clone)]
pub struct SignUpRules {
    threads: Arc<Semaphore>,
    known: Arc<Mutex<ProgramCache>>,
    timeout: Duration,
}

#[derive(Default)]
struct ProgramCache {
    programs: HashMap<ProjectId, Arc<Program>>,
    /// The memory of the programs, in bytes.
    bytes: usize,
    /// The projects with requests that are waiting or being evaluated.
    waiting: HashMap<ProjectId, Queue>,
}

/// The requests of one project.
struct Queue {
    length: usize,
    /// One permit, for the project's next evaluation to use a thread.
    turn: Arc<Semaphore>,
}

impl Default for Queue {
    fn default() -> Self {
        Self { length: 0, turn: Arc::new(Semaphore::new(1)) }
    }
}

impl Default for SignUpRules {
    fn default() -> Self {
        Self { threads: Arc::new(Semaphore::new(THREADS)), known: Arc::default(), timeout: TIMEOUT }
    }
}

impl SignUpRules {
    /// Judges a sign-up by the project's rules. Fails with [`KnownError::ServiceUnavailable`] if
    /// too many evaluations are waiting.
    pub async fn judge<'a>(&self, project: &'a Project, attempt: &Attempt<'_>) -> Result<Verdict<'a>, KnownError> {
        let config = &project.config;
        let statuses = if config.sign_up_rules.is_empty() { Vec::new() } else { self.statuses(project, attempt.facts()).await? };
        Ok(judge(&config.sign_up_rules, config.sign_up_rules_default_action, statuses))
    }

    async fn statuses(&self, project: &Project, facts: Facts) -> Result<Vec<Status>, KnownError> {
        let place = self.wait(&project.id).ok_or(KnownError::ServiceUnavailable)?;
        let rules = &project.config.sign_up_rules;
        let known = self.known().program(&project.id, rules).ok_or_else(|| rules.clone());
        let evaluation = async {
            let turn = place.turn.clone().acquire_owned().await.ok()?;
            let thread = self.threads.clone().acquire_owned().await.ok()?;
            let (this, id) = (self.clone(), project.id.clone());
            let work = move || {
                // All three permits are held until the evaluation ends, even if nobody is waiting
                // for it any longer.
                let _taken = (thread, turn, place);
                known.unwrap_or_else(|rules| this.compile(id, &rules)).run(&facts)
            };
            spawn_blocking(work).await.ok()
        };
        timeout(self.timeout, evaluation).await.ok().flatten().ok_or(KnownError::ServiceUnavailable)
    }

    /// Compiles rules, unless another request has already compiled them.
    fn compile(&self, project: ProjectId, rules: &[SignUpRule]) -> Arc<Program> {
        if let Some(known) = self.known().program(&project, rules) {
            return known;
        }
        let program = Arc::new(Program::compile(rules));
        self.known().keep(project, program.clone());
        program
    }

    /// Adds a request to the project's queue; `None` if too many are waiting.
    fn wait(&self, project: &ProjectId) -> Option<QueuedRequest> {
        let mut known = self.known();
        let queue = known.waiting.entry(project.clone()).or_default();
        if queue.length >= MAX_WAITING {
            return None;
        }
        queue.length += 1;
        Some(QueuedRequest { rules: self.clone(), project: project.clone(), turn: queue.turn.clone() })
    }

    fn known(&self) -> MutexGuard<'_, ProgramCache> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ProgramCache {
    /// The compiled rules of a project, unless its rules have changed since.
    fn program(&self, project: &ProjectId, rules: &[SignUpRule]) -> Option<Arc<Program>> {
        self.programs.get(project).filter(|program| program.is_of(rules)).cloned()
    }

    fn keep(&mut self, project: ProjectId, program: Arc<Program>) {
        if self.bytes + program.bytes() > MAX_KEPT {
            (self.programs, self.bytes) = (HashMap::new(), 0);
        }
        self.bytes += program.bytes();
        if let Some(old) = self.programs.insert(project, program) {
            self.bytes -= old.bytes();
        }
    }
}

/// A request that is waiting or being evaluated.
struct QueuedRequest {
    rules: SignUpRules,
    project: ProjectId,
    turn: Arc<Semaphore>,
}

impl Drop for QueuedRequest {
    fn drop(&mut self) {
        let mut known = self.rules.known();
        if let Some(queue) = known.waiting.get_mut(&self.project) {
            queue.length -= 1;
            if queue.length == 0 {
                known.waiting.remove(&self.project);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::future::{FutureExt as _, join_all};
    use jiff::Timestamp;
    use model::sign_up::risk::SignUpRisk;
    use model::sign_up::rule::AuthMethod;

    fn project(id: &str, conditions: &[String]) -> Project {
        let mut project = Project::new(ProjectId::parse(id).expect("an id"), "App", Timestamp::UNIX_EPOCH);
        project.config.sign_up_rules = conditions.iter().enumerate().map(|(id, condition)| rule(id, condition)).collect();
        project
    }

    fn rule(id: usize, condition: &str) -> SignUpRule {
        let action = serde_json::json!({ "type": "reject" });
        serde_json::from_value(
            serde_json::json!({ "id": id.to_string(), "enabled": true, "priority": 0, "condition": condition, "action": action }),
        )
        .expect("a rule")
    }

    fn kept(rules: &SignUpRules, project: &Project) -> Option<Arc<Program>> {
        rules.known().program(&project.id, &project.config.sign_up_rules)
    }

    async fn admits(rules: &SignUpRules, project: &Project) -> Result<bool, KnownError> {
        let nobody = Attempt { email: None, method: AuthMethod::Password, country_code: None, risk: SignUpRisk::default() };
        Ok(rules.judge(project, &nobody).await?.admits())
    }

    const FIRST: &str = "6fbbf22e-f4b2-4c6e-95a1-beab6fa41063";
    const SECOND: &str = "0d5c6e40-3c0a-4b5e-9b43-1c1f4bb2a3f1";

    #[tokio::test]
    async fn compiled_rules_are_kept_until_the_project_has_others() {
        let rules = SignUpRules::default();
        let closed = project(FIRST, &["true".to_owned()]);
        assert_eq!(admits(&rules, &closed).await, Ok(false));
        let first = kept(&rules, &closed).expect("kept");
        assert_eq!(admits(&rules, &closed).await, Ok(false));
        // A request that found no compiled rules may have waited for this one to compile them.
        let again = rules.compile(closed.id.clone(), &closed.config.sign_up_rules);
        assert!(Arc::ptr_eq(&first, &again) && Arc::ptr_eq(&first, &kept(&rules, &closed).expect("kept")));
        let open = project(FIRST, &["false".to_owned()]);
        assert_eq!(admits(&rules, &open).await, Ok(true));
        assert!(kept(&rules, &closed).is_none());
        assert_eq!(rules.known().programs.len(), 1);
    }

    #[test]
    fn the_kept_rules_of_many_projects_have_a_bound() {
        let rules = SignUpRules::default();
        let large: Vec<String> = (0..20).map(|n| vec![format!("email == '{n}'"); 60].join(" || ")).collect();
        let large = project(FIRST, &large);
        for number in 0..200 {
            let id = ProjectId::parse(&format!("6fbbf22e-f4b2-4c6e-95a1-{number:012x}")).expect("an id");
            rules.compile(id, &large.config.sign_up_rules);
            let known = rules.known();
            assert!(known.bytes <= MAX_KEPT);
            assert_eq!(known.bytes, known.programs.values().map(|program| program.bytes()).sum::<usize>());
        }
    }

    #[tokio::test]
    async fn a_project_waits_only_for_so_many_of_its_own_evaluations() {
        let rules = SignUpRules::default();
        let (first, second) = (project(FIRST, &["true".to_owned()]), project(SECOND, &["true".to_owned()]));
        let waiting: Vec<_> = (0..MAX_WAITING).map(|_| rules.wait(&first.id).expect("there is room")).collect();
        assert_eq!(admits(&rules, &first).await, Err(KnownError::ServiceUnavailable));
        assert_eq!(admits(&rules, &second).await, Ok(false));
        drop(waiting);
        assert_eq!(admits(&rules, &first).await, Ok(false));
        assert!(rules.known().waiting.is_empty());
    }

    #[tokio::test]
    async fn a_sign_up_that_is_not_judged_in_time_fails() {
        let rules = SignUpRules { timeout: Duration::from_millis(5), ..SignUpRules::default() };
        let threads = rules.threads.clone().acquire_many_owned(2).await.expect("two threads");
        assert_eq!(admits(&rules, &project(FIRST, &["false".to_owned()])).await, Err(KnownError::ServiceUnavailable));
        drop(threads);
    }

    #[tokio::test]
    async fn another_project_waits_for_one_evaluation_of_a_project_with_many() {
        let rules = SignUpRules { timeout: Duration::from_secs(600), ..SignUpRules::default() };
        let mut threads = rules.threads.clone().acquire_many_owned(2).await.expect("two threads");
        let busy = project(FIRST, &["true".to_owned()]);
        let mut many: Vec<_> = (0..9).map(|_| Box::pin(admits(&rules, &busy))).collect();
        for request in &mut many {
            assert!(request.as_mut().now_or_never().is_none());
        }
        let mut other = Box::pin(rules.threads.clone().acquire_owned());
        assert!(other.as_mut().now_or_never().is_none());
        drop(threads.split(1));
        assert_eq!(many.remove(0).await, Ok(false));
        assert!(other.now_or_never().is_some(), "eight requests came before the other project's");
        drop(threads);
        assert_eq!(join_all(many).await, vec![Ok(false); 8]);
        assert!(rules.known().waiting.is_empty());
    }

    #[tokio::test]
    async fn an_evaluation_that_nobody_awaits_any_longer_keeps_the_turn() {
        let rules = SignUpRules { timeout: Duration::from_millis(5), ..SignUpRules::default() };
        let closed = project(FIRST, &["true".to_owned()]);
        let place = rules.wait(&closed.id).expect("there is room");
        let turn = place.turn.clone().acquire_owned().await.expect("a turn");
        assert_eq!(admits(&rules, &closed).await, Err(KnownError::ServiceUnavailable));
        assert_eq!(rules.known().waiting[&closed.id].length, 1);
        drop((turn, place));
        assert!(rules.known().waiting.is_empty());
    }
}
