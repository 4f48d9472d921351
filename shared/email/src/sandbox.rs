//! Rendering in a separate process.
//!
//! Fuel bounds the number of instructions that a template executes, but one instruction may double
//! a text, and an MJML compiler and an HTML parser recurse as deep as their input is nested. Only
//! the operating system can bound memory, time and stack. So this program starts itself once more
//! as a renderer, which has a memory limit, has no secrets, and is killed when an answer takes too
//! long. A renderer renders one email after another. An email that crashes it costs a restart of a
//! few milliseconds and gets the status `render-error`; the other emails of the same request are
//! still rendered.
//!
//! Previews are limited to half of the renderers, so that they cannot delay the emails of the
//! outbox for long. A project's previews are rendered one after another: however many there are,
//! another project's next preview waits for at most one of them.

use std::collections::HashMap;
use std::convert::Infallible;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use model::outbox::work::Rendering;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};

use crate::render::{Context, Job, Sources, render_each};

/// How long rendering one email may take.
const TIME: Duration = Duration::from_secs(1);
/// How much memory a renderer may use, in bytes.
const MEMORY: u64 = 128 << 20;
/// How many attempts an email gets. A slow machine looks like a slow template; a second attempt
/// tells them apart. Once an email of a request has failed, the emails after it get one attempt.
const TRIES: u32 = 2;
/// How many renderers run at once: as many as fit in the memory of a small function.
const AT_ONCE: usize = 2;
/// How many renderers may render previews at once.
const PREVIEWS: usize = 1;
const FAILED: &str = "the renderer failed";
/// The variable that is set in the environment of a renderer.
const VARIABLE: &str = "GATELET_RENDERER";

/// The program to start; unset when emails are rendered in this process.
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
/// Idle renderers.
static IDLE: Mutex<Vec<Renderer>> = Mutex::new(Vec::new());
static TURNS: Turns = Turns::new();

/// Makes [`preview`] and [`render_all`] use renderer processes from now on. Call it first in
/// `main`: in a renderer process, it renders until its input ends and then exits.
pub fn install() {
    if std::env::var_os(VARIABLE).is_some() {
        std::process::exit(i32::from(serve().is_err()));
    }
    // On Linux, this link leads to the running program even if its file has been replaced.
    let own = PathBuf::from("/proc/self/exe");
    let program = if own.exists() { Ok(own) } else { std::env::current_exe() };
    if let Ok(program) = program {
        let _ = PROGRAM.set(program);
    }
}

/// Renders an email that will not be sent; in this process unless [`install`] was called.
pub async fn preview(Job { sources, context }: Job) -> Rendering {
    let project = context.project.id.clone();
    let turn = TURNS.of_preview(&project);
    of_one_source(turn, sources, vec![context]).await.pop().unwrap_or_else(|| Err(FAILED.to_owned()))
}

/// Renders several emails. Those with the same sources are rendered together, so that common
/// sources are parsed and compiled once. The results have the order of `jobs`.
pub async fn render_all(jobs: Vec<Job>) -> Vec<Rendering> {
    let mut groups: HashMap<Sources, (Vec<usize>, Vec<Context>)> = HashMap::new();
    let mut renderings = vec![Err(FAILED.to_owned()); jobs.len()];
    for (position, job) in jobs.into_iter().enumerate() {
        let (positions, contexts) = groups.entry(job.sources).or_default();
        positions.push(position);
        contexts.push(job.context);
    }
    let groups = groups.into_iter().map(|(sources, (positions, contexts))| async {
        positions.into_iter().zip(of_one_source(TURNS.of_email(), sources, contexts).await)
    });
    for (position, rendering) in join_all(groups).await.into_iter().flatten() {
        renderings[position] = rendering;
    }
    renderings
}

/// Renders emails with the same sources. If renderers are used, waits until it is their `turn`.
async fn of_one_source<T>(turn: impl Future<Output = T>, sources: Sources, contexts: Vec<Context>) -> Vec<Rendering> {
    let Some(program) = PROGRAM.get() else {
        let mut renderings = Vec::new();
        let _: Result<(), Infallible> = render_each(&sources, &contexts, |rendering| {
            renderings.push(rendering);
            Ok(())
        });
        return renderings;
    };
    let _turn = turn.await;
    let count = contexts.len();
    let renderings = tokio::task::spawn_blocking(move || in_renderer(program, &sources, &contexts)).await;
    renderings.unwrap_or_else(|_| vec![Err(FAILED.to_owned()); count])
}

/// Who may use a renderer next.
struct Turns {
    all: Semaphore,
    previews: Semaphore,
    /// The projects whose previews are being rendered or wait, each with a semaphore of one permit.
    projects: Mutex<Vec<(String, Arc<Semaphore>)>>,
}

/// The permits for rendering a preview: that of its project, one for previews, and one for any
/// renderer.
type PreviewTurn<'a> = (Option<OwnedSemaphorePermit>, Option<SemaphorePermit<'a>>, Option<SemaphorePermit<'a>>);

impl Turns {
    const fn new() -> Self {
        let (all, previews) = (Semaphore::const_new(AT_ONCE), Semaphore::const_new(PREVIEWS));
        Self { all, previews, projects: Mutex::new(Vec::new()) }
    }

    async fn of_email(&self) -> Option<SemaphorePermit<'_>> {
        self.all.acquire().await.ok()
    }

    async fn of_preview(&self, project: &str) -> PreviewTurn<'_> {
        let project = self.of_project(project).acquire_owned().await.ok();
        let preview = self.previews.acquire().await.ok();
        (project, preview, self.all.acquire().await.ok())
    }

    fn of_project(&self, project: &str) -> Arc<Semaphore> {
        let mut projects = self.projects.lock().unwrap_or_else(PoisonError::into_inner);
        projects.retain(|(_, turn)| Arc::strong_count(turn) > 1);
        if let Some((_, turn)) = projects.iter().find(|(id, _)| id == project) {
            return Arc::clone(turn);
        }
        let turn = Arc::new(Semaphore::new(1));
        projects.push((project.to_owned(), Arc::clone(&turn)));
        turn
    }
}

/// A request to a renderer: one email for each context.
#[derive(Serialize)]
struct Request<'a> {
    sources: &'a Sources,
    contexts: &'a [Context],
}

/// A [`Request`] as the renderer reads it.
#[derive(Deserialize)]
struct Order {
    sources: Sources,
    contexts: Vec<Context>,
}

/// A renderer process.
struct Renderer {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
}

impl Drop for Renderer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Why a renderer gave no answer.
#[derive(Debug, thiserror::Error)]
enum Lost {
    #[error("rendering took longer than a second")]
    Slow,
    #[error("the renderer ended: the email probably needs more memory or deeper nesting than allowed")]
    Ended,
    #[error("the renderer cannot be started: {0}")]
    Unstarted(std::io::Error),
}

fn in_renderer(program: &PathBuf, sources: &Sources, contexts: &[Context]) -> Vec<Rendering> {
    let mut renderings = Vec::new();
    let (mut tries, mut failures) = (TRIES, 0);
    while renderings.len() < contexts.len() {
        let before = renderings.len();
        let idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let answer = idle.map_or_else(|| Renderer::start(program).map_err(Lost::Unstarted), Ok).and_then(|mut renderer| {
            renderer.ask(Request { sources, contexts: &contexts[before..] }, &mut renderings)?;
            IDLE.lock().unwrap_or_else(PoisonError::into_inner).push(renderer);
            Ok(())
        });
        let Err(lost) = answer else { continue };
        failures = if renderings.len() > before { 1 } else { failures + 1 };
        if failures >= tries {
            tracing::warn!(error = %lost, "an email was not rendered");
            renderings.push(Err(lost.to_string()));
            // The cause is probably the sources, not a slow machine, so each further email gets
            // only one attempt.
            (tries, failures) = (1, 0);
        }
    }
    renderings
}

impl Renderer {
    fn start(program: &PathBuf) -> std::io::Result<Self> {
        let mut command = Command::new(program);
        let mut child =
            command.env_clear().env(VARIABLE, "1").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(input), Some(output)) => Ok(Self { child, input, output }),
            _ => Err(std::io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// Requests the rendering of some emails, and adds each rendering to `renderings` as it
    /// arrives.
    fn ask(&mut self, request: Request<'_>, renderings: &mut Vec<Rendering>) -> Result<(), Lost> {
        let mut end = Instant::now() + TIME;
        let frame = serde_json::to_vec(&request).map_err(|_| Lost::Ended)?;
        write_frame(&mut self.input, &frame).map_err(|_| Lost::Ended)?;
        let mut answers = Vec::new();
        for _ in request.contexts {
            let rendering = self.answer(&mut answers, end)?;
            renderings.push(serde_json::from_slice(&rendering).map_err(|_| Lost::Ended)?);
            end = Instant::now() + TIME;
        }
        Ok(())
    }

    /// The next answer; `read` holds the bytes that were read but not yet returned.
    fn answer(&mut self, read: &mut Vec<u8>, end: Instant) -> Result<Vec<u8>, Lost> {
        let mut bytes = vec![0; 64 * 1024];
        loop {
            let wanted = read.first_chunk().map_or(4, |length| 4 + u32::from_le_bytes(*length) as usize);
            if wanted > 4 && read.len() >= wanted {
                let rest = read.split_off(wanted);
                return Ok(std::mem::replace(read, rest).split_off(4));
            }
            self.wait(end)?;
            match self.output.read(&mut bytes).map_err(|_| Lost::Ended)? {
                0 => return Err(Lost::Ended),
                length => read.extend_from_slice(&bytes[..length]),
            }
        }
    }

    /// Waits until more of an answer can be read; fails at `end`.
    fn wait(&self, end: Instant) -> Result<(), Lost> {
        let rest = end.saturating_duration_since(Instant::now());
        let rest = Timespec { tv_sec: rest.as_secs().try_into().unwrap_or(0), tv_nsec: rest.subsec_nanos().into() };
        let mut ready = [PollFd::new(&self.output, PollFlags::IN)];
        match poll(&mut ready, Some(&rest)) {
            Ok(0) => Err(Lost::Slow),
            Ok(_) => Ok(()),
            Err(_) => Err(Lost::Ended),
        }
    }
}

fn write_frame(output: &mut impl Write, frame: &[u8]) -> std::io::Result<()> {
    let length = u32::try_from(frame.len()).map_err(|_| std::io::ErrorKind::InvalidData)?;
    output.write_all(&length.to_le_bytes())?;
    output.write_all(frame)?;
    output.flush()
}

/// Renders until the input ends.
fn serve() -> std::io::Result<()> {
    let hard = getrlimit(Resource::Data).maximum;
    let most = hard.map_or(MEMORY, |hard| hard.min(MEMORY));
    setrlimit(Resource::Data, Rlimit { current: Some(most), maximum: Some(most) })?;
    let (mut input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
    let mut length = [0; 4];
    while input.read_exact(&mut length).is_ok() {
        let mut order = vec![0; u32::from_le_bytes(length) as usize];
        input.read_exact(&mut order)?;
        let order: Order = serde_json::from_slice(&order)?;
        render_each(&order.sources, &order.contexts, |rendering| write_frame(&mut output, &serde_json::to_vec(&rendering)?))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use futures_util::FutureExt as _;
    use futures_util::poll;

    use super::Turns;

    #[test]
    fn previews_leave_a_renderer_to_the_outbox() {
        let turns = Turns::new();
        let _preview = turns.of_preview("a").now_or_never().unwrap();
        assert!(turns.of_preview("b").now_or_never().is_none());
        let _email = turns.of_email().now_or_never().unwrap();
        assert!(turns.of_email().now_or_never().is_none(), "two renderers are the most");
    }

    #[tokio::test]
    async fn previews_of_one_project_delay_those_of_another_by_one() {
        let turns = Turns::new();
        let first = turns.of_preview("a").await;
        let mut waiting = pin!(turns.of_preview("a"));
        let mut other = pin!(turns.of_preview("b"));
        assert!(poll!(waiting.as_mut()).is_pending() && poll!(other.as_mut()).is_pending());
        drop(first);
        assert!(poll!(waiting.as_mut()).is_pending());
        drop(other.now_or_never().unwrap());
        drop(waiting.now_or_never().unwrap());
        assert_eq!(turns.of_project("c").available_permits(), 1);
        assert_eq!(turns.projects.lock().unwrap().len(), 1, "projects without previews are forgotten");
    }
}
