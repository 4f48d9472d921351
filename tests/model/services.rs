//! The progress of clients. The responses to a client determine its position, so each position is
//! computed by a single run of the request and cached.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex};

use settings::Settings;
use wire::clock::Clock;

use crate::call::{Call, digest};
use crate::service::{Answer, Reply, Run, Service, Task};

/// Runs the tasks of clients.
pub(crate) struct Services {
    settings: Settings,
    clock: Clock,
    idle: Mutex<Vec<Service>>,
    /// Positions, by the client and the responses that it has received.
    known: Mutex<HashMap<u64, Arc<Local>>>,
    /// Positions by digest, so that equal positions are kept only once.
    same: Mutex<HashMap<u64, Arc<Local>>>,
}

/// The position of a client in its tasks.
pub(crate) struct Local {
    /// The index of the current task; once all tasks are done, the number of tasks.
    pub(crate) at: usize,
    pub(crate) heard: Vec<(usize, Reply)>,
    pub(crate) calls: Vec<Call>,
    pub(crate) pending: Vec<usize>,
    pub(crate) answers: Vec<Answer>,
    digest: u64,
}

impl Services {
    pub(crate) fn new(settings: Settings, clock: Clock) -> Self {
        Self { settings, clock, idle: Mutex::default(), known: Mutex::default(), same: Mutex::default() }
    }

    /// The number of positions that have been computed so far.
    pub(crate) fn runs(&self) -> usize {
        self.known.lock().unwrap().len()
    }

    fn run(&self, task: &Task, seed: u64, heard: &[(usize, Reply)]) -> Run {
        let idle = self.idle.lock().unwrap().pop();
        let service = idle.unwrap_or_else(|| Service::new(self.settings.clone(), self.clock.clone()));
        let run = service.run(task, seed, heard);
        self.idle.lock().unwrap().push(service);
        run
    }

    /// The position of a client after these responses in its current task. `before` is the previous
    /// position of the client; `None` at the start.
    pub(crate) fn local(&self, client: usize, tasks: &[Task], before: Option<&Local>, at: usize, heard: Vec<(usize, Reply)>) -> Arc<Local> {
        let mut answers = before.map(|before| before.answers.clone()).unwrap_or_default();
        let id = digest(&(client, at, &heard, answers.iter().map(|answer| (answer.status, &answer.code)).collect::<Vec<_>>()));
        if let Some(local) = self.known.lock().unwrap().get(&id) {
            return Arc::clone(local);
        }
        let Some(task) = tasks.get(at) else {
            return self.kept(id, Local { at, heard, calls: Vec::new(), pending: Vec::new(), answers, digest: id });
        };
        let seed = u64::try_from(client * 16 + at + 1).unwrap();
        let Run { calls, pending, answer, drawn } = self.run(task, seed, &heard);
        if let Some(before) = before.filter(|before| before.at == at) {
            assert_eq!(calls.get(..before.calls.len()), Some(&before.calls[..]), "the same responses led to other calls");
        }
        if let Some(answer) = answer {
            answers.push(answer);
            let ended = Local { at, heard: Vec::new(), calls: Vec::new(), pending: Vec::new(), answers, digest: 0 };
            let next = self.local(client, tasks, Some(&ended), at + 1, Vec::new());
            self.known.lock().unwrap().insert(id, Arc::clone(&next));
            return next;
        }
        assert!(!pending.is_empty(), "a request is stuck without pending calls");
        let mut had: Vec<_> = heard.iter().map(|(call, reply)| digest(&(&calls[*call], reply))).collect();
        had.sort_unstable();
        let mut waits: Vec<_> = pending.iter().map(|call| digest(&calls[*call])).collect();
        waits.sort_unstable();
        let said: Vec<_> = answers.iter().map(|answer| (answer.status, answer.code.clone())).collect();
        let digest = digest(&(client, at, had, waits, said, drawn));
        self.kept(id, Local { at, heard, calls, pending, answers, digest })
    }

    /// Caches a position. Two requests continue in the same way if they have got the same responses
    /// (in any order), wait for the same calls, and have used the same amount of randomness. The
    /// first position therefore represents all equal ones.
    fn kept(&self, id: u64, local: Local) -> Arc<Local> {
        let local = Arc::clone(self.same.lock().unwrap().entry(local.digest).or_insert_with(|| Arc::new(local)));
        self.known.lock().unwrap().insert(id, Arc::clone(&local));
        local
    }
}

/// A position. Two positions are equal if their digests are equal.
#[derive(Clone)]
pub(crate) struct Place(pub(crate) Arc<Local>);

impl PartialEq for Place {
    fn eq(&self, other: &Self) -> bool {
        self.0.digest == other.0.digest
    }
}

impl Hash for Place {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.digest.hash(state);
    }
}

impl Place {
    /// The last response to the client; `None` until all tasks are done.
    pub(crate) fn told(&self, tasks: usize) -> Option<&Answer> {
        if self.0.at == tasks { self.0.answers.last() } else { None }
    }
}
