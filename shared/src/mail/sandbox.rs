//! Rendering in a process of its own.
//!
//! Fuel bounds how many instructions a template takes, but one instruction may double a text, and a compiler of MJML or a parser of HTML
//! recurses as deep as its input is nested: memory, time and stack are bounded by the operating system or not at all. So this program
//! starts itself once more as a renderer, which has its memory limited, knows no secret, and is killed when an answer takes too long. It
//! renders mail after mail; one that ends it costs a new start, which takes milliseconds, and is a `render-error` for the mail alone.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::sync::Semaphore;

use super::render::{self, Job};
use crate::model::outbox_work::Rendering;

/// How long a mail may take.
const TIME: Duration = Duration::from_secs(1);
/// How much memory a renderer may have, in bytes.
const MEMORY: u64 = 128 << 20;
/// A machine that stalls looks like a template that does: a second try tells them apart.
const TRIES: u32 = 2;
/// How many mails are rendered at once: as many as have the memory of a small function.
const AT_ONCE: usize = 2;
/// Set for a renderer.
const VARIABLE: &str = "GATELET_RENDERER";

/// The program to start; unset where mails are rendered in this process.
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
/// Renderers that wait for work.
static IDLE: Mutex<Vec<Renderer>> = Mutex::new(Vec::new());
static TURNS: Semaphore = Semaphore::const_new(AT_ONCE);

/// From now on mails are rendered by processes of this program. To be called first in `main`: in such a process it renders, and ends with it.
pub fn install() {
    if std::env::var_os(VARIABLE).is_some() {
        std::process::exit(i32::from(serve().is_err()));
    }
    // Where the program was replaced meanwhile, Linux still knows the one that runs.
    let own = PathBuf::from("/proc/self/exe");
    let program = if own.exists() { Ok(own) } else { std::env::current_exe() };
    if let Ok(program) = program {
        let _ = PROGRAM.set(program);
    }
}

/// Renders a mail; in this process unless [`install`] was called.
pub async fn render(job: Job) -> Rendering {
    let Some(program) = PROGRAM.get() else { return render::render(&job) };
    let _turn = TURNS.acquire().await;
    let rendering = tokio::task::spawn_blocking(move || in_renderer(program, &job)).await;
    rendering.unwrap_or_else(|_| Err("the renderer failed".to_owned()))
}

/// A process that renders.
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
    #[error("rendering needed more memory or deeper nesting than a mail may have")]
    Ended,
    #[error("the renderer cannot be started: {0}")]
    Unstarted(std::io::Error),
}

fn in_renderer(program: &PathBuf, job: &Job) -> Rendering {
    let mut lost = Lost::Ended;
    for _ in 0..TRIES {
        let idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let answer = idle.map_or_else(|| Renderer::start(program).map_err(Lost::Unstarted), Ok).and_then(|mut renderer| {
            let answer = renderer.ask(job)?;
            IDLE.lock().unwrap_or_else(PoisonError::into_inner).push(renderer);
            Ok(answer)
        });
        match answer {
            Ok(answer) => return answer,
            Err(error) => lost = error,
        }
    }
    tracing::warn!(error = %lost, "a mail was not rendered");
    Err(lost.to_string())
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

    fn ask(&mut self, job: &Job) -> Result<Rendering, Lost> {
        let end = Instant::now() + TIME;
        let ended = |_| Lost::Ended;
        let job = serde_json::to_vec(job).map_err(|_| Lost::Ended)?;
        write_frame(&mut self.input, &job).map_err(ended)?;
        let mut answer = Vec::new();
        let mut wanted = 4;
        let mut bytes = vec![0; 64 * 1024];
        while answer.len() < wanted {
            self.wait(end)?;
            match self.output.read(&mut bytes).map_err(ended)? {
                0 => return Err(Lost::Ended),
                length => answer.extend_from_slice(&bytes[..length]),
            }
            if let Some(length) = answer.first_chunk() {
                wanted = 4 + u32::from_le_bytes(*length) as usize;
            }
        }
        serde_json::from_slice(&answer[4..]).map_err(|_| Lost::Ended)
    }

    /// Waits for more of an answer.
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

/// Renders until nobody asks any more.
fn serve() -> std::io::Result<()> {
    let hard = getrlimit(Resource::Data).maximum;
    let most = hard.map_or(MEMORY, |hard| hard.min(MEMORY));
    setrlimit(Resource::Data, Rlimit { current: Some(most), maximum: Some(most) })?;
    let (mut input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
    let mut length = [0; 4];
    while input.read_exact(&mut length).is_ok() {
        let mut job = vec![0; u32::from_le_bytes(length) as usize];
        input.read_exact(&mut job)?;
        let job: Job = serde_json::from_slice(&job)?;
        write_frame(&mut output, &serde_json::to_vec(&render::render(&job))?)?;
    }
    Ok(())
}
