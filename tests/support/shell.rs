//! A shell is a service without its data. Building a shell is most of the work of a small test. A
//! test that starts several services from snapshots therefore reuses its shell, unless the shell is
//! still in use. No trace of the earlier service is left, because its table is replaced, its inbox
//! is emptied, and the process forgets its state. Different tests do not share shells.

use std::cell::RefCell;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use crypto::password::hash::Hasher;
use flows::App;
use gateway::engine::{Engine, Observe};
use gateway::inbox::Inbox;
use gateway::service::{Parts, Service};
use jiff::Timestamp;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use settings::Settings;
use tokio::sync::OnceCell;
use wire::clock::Clock;
use wire::entropy::Entropy;

use crate::table::{Image, Table};
use crate::{Recorder, START, record};

#[derive(Clone)]
pub(crate) struct Shell {
    pub(crate) app: App,
    pub(crate) inbox: Inbox,
    pub(crate) recorder: Arc<Recorder>,
    pub(crate) engine: Engine,
    pub(crate) router: Router,
    pub(crate) now: Arc<AtomicI64>,
    /// Everything that uses the shell holds a reference to the table.
    pub(crate) table: Arc<Table>,
    pub(crate) is_observed: bool,
    random: Arc<Mutex<ChaCha20Rng>>,
}

/// A shell that this test can reuse.
struct KeptShell {
    /// Identifies the settings and the definition of the table.
    kind: String,
    shell: Shell,
    /// The number of services that have used the shell.
    uses: u64,
}

thread_local! {
    /// The shells of this test. The shells are kept per thread because each test has a separate
    /// thread.
    static KEPT: RefCell<Vec<KeptShell>> = const { RefCell::new(Vec::new()) };
}

impl Shell {
    /// A shell with an empty table. Unless `is_observed` is set, the recorder sees no calls, and
    /// reads take a gateway's shortcut.
    pub(crate) async fn new(settings: Settings, hasher: Hasher, is_observed: bool) -> Self {
        static EMPTY: OnceCell<Image> = OnceCell::const_new();
        let empty = EMPTY.get_or_init(async || {
            let (database, table) = Table::open();
            Engine::over(database, &Entropy::system(), None).create_table().await.unwrap();
            table.index();
            table.image()
        });
        Self::build(settings, hasher, 1, empty.await, is_observed)
    }

    /// A shell with a copy of a table, for a service that has the same random numbers each time.
    pub(crate) fn with(settings: Settings, seed: u64, image: &Image, is_observed: bool) -> Self {
        Self::build(settings, Hasher::new(64, 1), seed, image, is_observed)
    }

    fn build(settings: Settings, hasher: Hasher, seed: u64, image: &Image, is_observed: bool) -> Self {
        record::start();
        let now = Arc::new(AtomicI64::new(START.parse::<Timestamp>().unwrap().as_millisecond()));
        let clock = Clock::new({
            let now = Arc::clone(&now);
            move || Timestamp::from_millisecond(now.load(Ordering::SeqCst)).unwrap()
        });
        let random = Arc::new(Mutex::new(ChaCha20Rng::seed_from_u64(seed)));
        let entropy = Entropy::new({
            let random = Arc::clone(&random);
            move |bytes| random.lock().unwrap().fill_bytes(bytes)
        });
        let recorder = Arc::new(Recorder::default());
        let (database, table) = Table::open();
        table.replace_by(image);
        let observer = is_observed.then(|| Arc::clone(&recorder) as Arc<dyn Observe>);
        let engine = Engine::over(database, &entropy, observer);
        let inbox = Inbox::open(None, clock.clone()).unwrap();
        let (engine_part, inbox_part) = (engine.clone(), inbox.clone());
        let parts = Parts { settings, engine: engine_part, inbox: inbox_part, clock, entropy, hasher, private_pages: None };
        let Service { app, router, .. } = Service::new(parts);
        Self { app, inbox, recorder, engine, router, now, table: Arc::new(table), is_observed, random }
    }

    /// A shell with a copy of a table. The shell is an unused one of this kind and test or, if
    /// there is none, a new one.
    pub(crate) async fn again(kind: &str, settings: impl FnOnce() -> Settings, seed: u64, image: &Image, is_observed: bool) -> Self {
        let kind = format!("{kind} {is_observed} {}", image.definition);
        let free = |kept: &mut KeptShell| {
            let is_free = kept.kind == kind && Arc::strong_count(&kept.shell.table) == 1;
            is_free.then(|| {
                kept.uses += 1;
                (kept.shell.clone(), kept.uses)
            })
        };
        if let Some((shell, uses)) = KEPT.with_borrow_mut(|all| all.iter_mut().find_map(free)) {
            if shell.is_reusable(image).await {
                // The seed differs, so no id is issued twice, and no transaction repeats an earlier
                // token, which the engine would take for a retry.
                shell.reset(seed.wrapping_add(uses), image).await;
                return shell;
            }
            KEPT.with_borrow_mut(|all| all.retain(|kept| !Arc::ptr_eq(&kept.shell.table, &shell.table)));
        }
        let shell = Self::with(settings(), seed, image, is_observed);
        KEPT.with_borrow_mut(|all| all.push(KeptShell { kind, shell: shell.clone(), uses: 0 }));
        shell
    }

    /// Whether the table can be replaced. The engine caches the definition of the table and the
    /// position in its stream. Waits for writes that no request is waiting for.
    async fn is_reusable(&self, image: &Image) -> bool {
        while self.engine.is_writing() {
            tokio::task::yield_now().await;
        }
        !self.engine.has_feed() && self.table.is_defined_as(image)
    }

    async fn reset(&self, seed: u64, image: &Image) {
        self.table.replace_by(image);
        if !self.is_observed {
            self.engine.forget();
        }
        self.inbox.clear().unwrap();
        self.recorder.reset();
        self.app.memory.forget();
        self.app.catalogue.forget().await;
        // Empties the list of projects with new trail entries, which the engine keeps for the
        // trail's worker.
        drop(self.engine.changed_trails());
        *self.random.lock().unwrap() = ChaCha20Rng::seed_from_u64(seed);
    }
}
