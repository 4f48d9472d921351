//! Rendering in a separate process.
//!
//! Fuel limits the number of instructions that a template executes, but one instruction may double
//! a text, and the MJML compiler and the HTML parser recurse as deeply as their input is nested.
//! Only the operating system can limit memory, time and stack. This program therefore runs itself
//! in a second process as a renderer, with a memory limit and without secrets, and kills the
//! renderer if a response takes too long. A renderer renders one email after another. If an email
//! crashes a renderer, starting another one takes a few milliseconds. The email gets the status
//! `render-error`, and the request's other emails are still rendered.
//!
//! A call occupies a renderer for only about `SHARE`; the caller tries the remaining emails later.
//! `turns` decides which call gets a renderer next.

use std::convert::Infallible;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use model::outbox::work::Rendering;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::param::clock_ticks_per_second;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};

use crate::render::{Context, Job, Sources, render_each};
use crate::turns::{Turns, lock};

/// The maximum CPU time for rendering one email; elapsed time is used outside Linux, where CPU time
/// cannot be read.
const MAX_CPU_TIME: Duration = Duration::from_secs(1);
/// The maximum time for rendering one email on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(4);
/// The maximum memory of a renderer, in bytes.
const MAX_MEMORY: u64 = 128 << 20;
/// Attempts per email. An email that exceeds the time limit on its own is not retried. After one
/// email of a request has failed, each of the remaining emails gets one attempt.
const MAX_ATTEMPTS: u32 = 2;
/// How long one call may use a renderer before it must yield to other calls. The call still
/// finishes the email in progress, and its first email always gets all attempts, so that every call
/// makes progress.
const SHARE: Duration = Duration::from_secs(2);
const FAILED: &str = "the renderer failed";
/// The environment variable that marks a renderer process.
const VARIABLE: &str = "GATELET_RENDERER";

/// The program to start; unset if this process renders emails itself.
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
static IDLE: Mutex<Vec<Renderer>> = Mutex::new(Vec::new());
static TURNS: Turns = Turns::new();

/// Makes [`preview`] and [`render_all`] use renderer processes from now on. Call this function
/// first in `main`: in a renderer process, it renders until the input ends and then exits.
pub fn install() {
    if std::env::var_os(VARIABLE).is_some() {
        std::process::exit(i32::from(serve().is_err()));
    }
    // On Linux, this link is the running program even if its file has been replaced.
    let own = PathBuf::from("/proc/self/exe");
    let program = if own.exists() { Ok(own) } else { std::env::current_exe() };
    if let Ok(program) = program {
        let _ = PROGRAM.set(program);
    }
}

/// Renders an email that will not be sent, in this process unless [`install`] was called.
pub async fn preview(Job { sources, context }: Job) -> Rendering {
    let project = context.project.id.clone();
    let mut renderings = rendered(TURNS.wait_for_preview(&project), vec![(sources, vec![context])]).await.1;
    renderings.pop().unwrap_or_else(|| Err(FAILED.to_owned()))
}

/// Renders several emails of one project. Emails with the same sources are rendered together, so
/// that the sources are compiled only once. The results are in the order of `jobs`; `None` means
/// that an email was not rendered because earlier ones took too long. At least one email is
/// rendered.
pub async fn render_all(jobs: Vec<Job>) -> Vec<Option<Rendering>> {
    let Some(project) = jobs.first().map(|job| job.context.project.id.clone()) else { return Vec::new() };
    let mut results = vec![None; jobs.len()];
    let (mut groups, mut positions): (Vec<Group>, Vec<Vec<usize>>) = (Vec::new(), Vec::new());
    for (position, Job { sources, context }) in jobs.into_iter().enumerate() {
        match groups.iter().position(|(known, _)| *known == sources) {
            Some(group) => {
                groups[group].1.push(context);
                positions[group].push(position);
            }
            None => {
                groups.push((sources, vec![context]));
                positions.push(vec![position]);
            }
        }
    }
    let (took, renderings) = rendered(TURNS.wait_for_email(&project), groups).await;
    TURNS.took(&project, took, renderings.len());
    for (position, rendering) in positions.into_iter().flatten().zip(renderings) {
        results[position] = Some(rendering);
    }
    results
}

/// Whether a project's emails have recently been slow to render.
pub fn is_slow(project: &str) -> bool {
    TURNS.is_slow(project)
}

/// Emails with the same sources.
type Group = (Sources, Vec<Context>);

/// Renders emails one after another, and returns how long rendering took. The results are in the
/// order of the groups; the last results are missing if rendering took longer than [`SHARE`]. If
/// renderer processes are used, waits for the emails' `turn`.
async fn rendered<T>(turn: impl Future<Output = T>, groups: Vec<Group>) -> (Duration, Vec<Rendering>) {
    let Some(program) = PROGRAM.get() else {
        let mut renderings = Vec::new();
        for (sources, contexts) in &groups {
            let _: Result<(), Infallible> = render_each(sources, contexts, |rendering| {
                renderings.push(rendering);
                Ok(())
            });
        }
        return (Duration::ZERO, renderings);
    };
    let _turn = turn.await;
    let (began, count) = (Instant::now(), groups.iter().map(|(_, contexts)| contexts.len()).sum());
    let renderings = tokio::task::spawn_blocking(move || in_renderer(program, &groups, began)).await;
    (began.elapsed(), renderings.unwrap_or_else(|_| vec![Err(FAILED.to_owned()); count]))
}

/// A request to a renderer: one email for each context.
#[derive(Serialize)]
struct Request<'a> {
    sources: &'a Sources,
    contexts: &'a [Context],
}

/// A [`Request`], as read by the renderer.
#[derive(Deserialize)]
struct Order {
    sources: Sources,
    contexts: Vec<Context>,
}

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

/// Why a renderer did not respond.
#[derive(Debug, thiserror::Error)]
enum RendererError {
    #[error("rendering took longer than a second")]
    Slow,
    #[error("rendering did not finish within four seconds on a busy machine")]
    Starved,
    #[error("the renderer stopped: the email probably needs more memory or deeper nesting than allowed")]
    Ended,
    #[error("the renderer cannot be started: {0}")]
    Unstarted(std::io::Error),
}

/// Renders emails until all are done or [`SHARE`] has passed since `began`.
fn in_renderer(program: &PathBuf, groups: &[Group], began: Instant) -> Vec<Rendering> {
    let mut renderings = Vec::new();
    for (sources, contexts) in groups {
        let (first, mut attempts, mut failures) = (renderings.len(), MAX_ATTEMPTS, 0);
        while renderings.len() < first + contexts.len() && (renderings.is_empty() || began.elapsed() < SHARE) {
            let before = renderings.len();
            let idle = lock(&IDLE).pop();
            let answer = idle.map_or_else(|| Renderer::start(program).map_err(RendererError::Unstarted), Ok).and_then(|mut renderer| {
                let request = Request { sources, contexts: &contexts[before - first..] };
                if renderer.ask(request, &mut renderings, began)? {
                    lock(&IDLE).push(renderer);
                }
                Ok(())
            });
            let Err(lost) = answer else { continue };
            failures = if renderings.len() > before { 1 } else { failures + 1 };
            if matches!(lost, RendererError::Slow) {
                failures = attempts;
            }
            if failures >= attempts {
                tracing::warn!(error = %lost, "an email was not rendered");
                renderings.push(Err(lost.to_string()));
                // The cause is probably the sources, not a slow machine, so each of the remaining
                // emails gets only one attempt.
                (attempts, failures) = (1, 0);
            }
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
    /// arrives. Returns whether all renderings arrived by [`SHARE`] after `began`; if not, this
    /// renderer must not be used again.
    fn ask(&mut self, request: Request<'_>, renderings: &mut Vec<Rendering>, began: Instant) -> Result<bool, RendererError> {
        let mut limit = Limit::start(&self.child);
        let frame = serde_json::to_vec(&request).map_err(|_| RendererError::Ended)?;
        write_frame(&mut self.input, &frame).map_err(|_| RendererError::Ended)?;
        let mut answers = Vec::new();
        for left in (0..request.contexts.len()).rev() {
            let rendering = self.answer(&mut answers, &limit)?;
            renderings.push(serde_json::from_slice(&rendering).map_err(|_| RendererError::Ended)?);
            if left > 0 && began.elapsed() >= SHARE {
                return Ok(false);
            }
            limit = Limit::start(&self.child);
        }
        Ok(true)
    }

    /// The next response; `read` holds the bytes that were read but not returned yet.
    fn answer(&mut self, read: &mut Vec<u8>, limit: &Limit) -> Result<Vec<u8>, RendererError> {
        let mut bytes = vec![0; 64 * 1024];
        loop {
            let wanted = read.first_chunk().map_or(4, |length| 4 + u32::from_le_bytes(*length) as usize);
            if wanted > 4 && read.len() >= wanted {
                let rest = read.split_off(wanted);
                return Ok(std::mem::replace(read, rest).split_off(4));
            }
            self.wait(limit)?;
            match self.output.read(&mut bytes).map_err(|_| RendererError::Ended)? {
                0 => return Err(RendererError::Ended),
                length => read.extend_from_slice(&bytes[..length]),
            }
        }
    }

    /// Waits until more of a response can be read; fails at the limit.
    fn wait(&self, limit: &Limit) -> Result<(), RendererError> {
        loop {
            let rest = Timespec::try_from(limit.remaining(&self.child)?).map_err(|_| RendererError::Ended)?;
            let mut ready = [PollFd::new(&self.output, PollFlags::IN)];
            match poll(&mut ready, Some(&rest)) {
                Ok(0) => {}
                Ok(_) => return Ok(()),
                Err(_) => return Err(RendererError::Ended),
            }
        }
    }
}

/// The time limit for rendering one email.
struct Limit {
    began: Instant,
    /// The renderer's CPU time when it began to render the email.
    used: Option<Duration>,
}

impl Limit {
    fn start(renderer: &Child) -> Self {
        Self { began: Instant::now(), used: cpu_time(renderer) }
    }

    /// The time until the limit could be reached.
    fn remaining(&self, renderer: &Child) -> Result<Duration, RendererError> {
        let passed = self.began.elapsed();
        let used = self.used.and_then(|before| cpu_time(renderer)?.checked_sub(before));
        let rest = MAX_CPU_TIME.saturating_sub(used.unwrap_or(passed));
        if rest.is_zero() {
            return Err(RendererError::Slow);
        }
        match TIMEOUT.saturating_sub(passed) {
            Duration::ZERO => Err(RendererError::Starved),
            left => Ok(rest.min(left)),
        }
    }
}

/// The CPU time of a process, if the system reports it.
fn cpu_time(process: &Child) -> Option<Duration> {
    let status = std::fs::read_to_string(format!("/proc/{}/stat", process.id())).ok()?;
    // The name of the program comes second, in parentheses, and may contain spaces. The times in
    // user mode and in the kernel are the 12th and 13th field after the name (proc_pid_stat(5)).
    let mut fields = status.rsplit_once(')')?.1.split_ascii_whitespace().skip(11);
    let ticks = fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?;
    Some(Duration::from_millis(ticks * 1000 / clock_ticks_per_second().max(1)))
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
    let max_memory = hard.map_or(MAX_MEMORY, |hard| hard.min(MAX_MEMORY));
    setrlimit(Resource::Data, Rlimit { current: Some(max_memory), maximum: Some(max_memory) })?;
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
