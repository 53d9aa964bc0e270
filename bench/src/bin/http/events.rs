//! Benchmark of the event stream with thousands of subscribers. Some subscribers do not read their
//! stream.
//!
//! The age of a frame is the time between the state that the frame contains and the receipt of the
//! frame. The benchmark computes the age from the simulated time in the frame. At speed 1,
//! simulated and real time differ by a constant offset. The benchmark uses the smallest offset that
//! a single reader sees on an idle server.

use crate::chunks::Chunks;
use crate::requests::{LoopResult, closed_loop, connection_count};
use chicane_bench::BenchError;
use chicane_bench::client::{get, post};
use chicane_bench::report::{Goal, Report, quantile};
use chicane_bench::server::Server;
use std::cell::RefCell;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;

/// Time for which a single reader measures the offset between simulated and real time, while the
/// server has no other reader.
const QUIET: Duration = Duration::from_secs(2);
/// Pause after every reader has received its first frame, before the measurement starts.
const SETTLE: Duration = Duration::from_secs(2);
/// Duration of the measurement, without and with `--quick`.
const MEASURE: [Duration; 2] = [Duration::from_secs(10), Duration::from_secs(3)];
/// Maximum time until all readers have received their first frame.
const SUBSCRIBE_TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum number of readers that wait for their first frame. Above this number, opening further
/// streams pauses.
const MAX_PENDING: usize = 128;
/// Of this many subscribers, one does not read its stream.
const STALLED_ONE_IN: usize = 100;

/// State that all readers of one measurement share.
struct Round {
    begun: Instant,
    measuring: AtomicBool,
    /// Number of streams that have had a frame.
    readers: AtomicUsize,
    /// Number of streams that ended after their first frame.
    broken: AtomicUsize,
    /// Whether the end of a stream has been printed. Only the first end is printed.
    is_end_printed: AtomicBool,
    frames: Mutex<Vec<Arc<Mutex<ReaderStats>>>>,
}

impl Round {
    fn new(begun: Instant) -> Round {
        Round {
            begun,
            measuring: AtomicBool::new(false),
            readers: AtomicUsize::new(0),
            broken: AtomicUsize::new(0),
            is_end_printed: AtomicBool::new(false),
            frames: Mutex::default(),
        }
    }

    /// Records the end of a stream.
    fn note_end(&self, seen: &Mutex<ReaderStats>, end: &Result<(), BenchError>) {
        let has_frame = lock(seen).last_id.is_some();
        self.broken.fetch_add(usize::from(has_frame), Relaxed);
        if !self.is_end_printed.swap(true, Relaxed) {
            eprintln!("a stream ended: {end:?}");
        }
    }

    /// How many of the `opened` streams ended or have had no frame.
    fn broken_of(&self, opened: usize) -> usize {
        self.broken.load(Relaxed) + (opened - self.readers.load(Relaxed))
    }
}

/// Statistics of one reader.
#[derive(Default)]
struct ReaderStats {
    last_id: Option<u64>,
    /// Number of frames that the server skipped for this reader during the measurement.
    missed: u64,
    /// For each frame that was received during the measurement: receipt time since the start of the
    /// benchmark, minus the simulated time of the frame, s.
    offsets: Vec<f64>,
}

/// Measures the event stream with `count` subscribers.
pub(crate) async fn subscribers(
    server: &Server,
    count: usize,
    quick: bool,
    report: &mut Report,
) -> Result<(), BenchError> {
    let measure = MEASURE[usize::from(quick)];
    let mut client = server.connect().await?;
    let body = r#"{"path":[[1,5],[2,5]],"speed":0.5,"loop":true}"#;
    client.ask(&post("/models/box1/pose", body)).await?;

    let begun = Instant::now();
    let quiet = subscribe(server.address, 1, begun).await?;
    quiet.measure(QUIET).await;
    let base = quiet.all().1.into_iter().fold(f64::INFINITY, f64::min);
    drop(quiet);

    let memory = server.memory()?;
    let mut all = subscribe(server.address, count, begun).await?;
    let connected = all.connecting.as_secs_f64();
    tokio::time::sleep(SETTLE).await;
    let (cpu, from, (sim, real)) = (server.cpu()?, Instant::now(), server.clock().await?);
    all.measure(measure).await;
    let (sim_end, real_end) = server.clock().await?;
    let (cpu, took) = (server.cpu()? - cpu, from.elapsed().as_secs_f64());
    let memory = server.memory()? - memory;
    let readers = all.round.readers.load(Relaxed);
    let broken = all.round.broken_of(all.opened);
    let (missed, offsets) = all.all();
    let mut ages: Vec<Duration> =
        offsets.iter().map(|o| Duration::from_secs_f64((o - base).max(0.0))).collect();

    let few = count <= 1000;
    let goal = |target: Goal| if few { target } else { Goal::None };
    let mut add = |name: &str, figure: f64, unit: &'static str, target: Goal| {
        report.add(format!("{count} subscribers: {name}"), figure, unit, target);
    };
    let each = ages.len() as f64 / readers as f64 / measure.as_secs_f64();
    add("time to connect them all", connected, "s", Goal::None);
    add("streams that broke or brought nothing", broken as f64, "", Goal::AtMost(0.0));
    add("frames a second for each reader", each, "1/s", goal(Goal::AtLeast(29.0)));
    add("frames missed", 100.0 * missed as f64 / (missed as f64 + ages.len() as f64), "%", Goal::None);
    add("age of a frame, p50", quantile(&mut ages, 0.5), "ms", Goal::None);
    add("age of a frame, p99", quantile(&mut ages, 0.99), "ms", goal(Goal::AtMost(150.0)));
    add("age of a frame, max", quantile(&mut ages, 1.0), "ms", Goal::None);
    add("memory for each", memory / count as f64 / 1e3, "kB", Goal::AtMost(30.0));
    add("processor time of the server", cpu / took, "cores", Goal::None);
    add("processor time for each frame sent", 1e6 * cpu / (each * took * readers as f64), "µs", Goal::None);
    add("real-time factor", (sim_end - sim) / (real_end - real), "", Goal::AtLeast(0.99));
    if few && !quick {
        for connections in [1, 8] {
            let LoopResult { mut times, rate } = closed_loop(server, connections, get("/state")).await?;
            let name = format!("GET /state, {}", connection_count(connections));
            add(&format!("{name}, requests a second"), rate, "1/s", Goal::None);
            add(&format!("{name}, p50"), quantile(&mut times, 0.5), "ms", Goal::None);
            add(&format!("{name}, p99"), quantile(&mut times, 0.99), "ms", Goal::None);
        }
    }
    all.tasks.shutdown().await;
    Ok(())
}

/// Open streams. The streams are closed when the value is dropped.
struct Subscribers {
    round: Arc<Round>,
    /// Number of streams that are read.
    opened: usize,
    connecting: Duration,
    tasks: JoinSet<()>,
}

/// Opens streams. Waits until every reader has received a frame, or until [`SUBSCRIBE_TIMEOUT`] has
/// passed.
async fn subscribe(address: SocketAddr, count: usize, begun: Instant) -> Result<Subscribers, BenchError> {
    let round = Arc::new(Round::new(begun));
    let started = Instant::now();
    let mut tasks = JoinSet::new();
    let mut opened = 0;
    let stalled = count / STALLED_ONE_IN;
    for number in 0..count {
        // The streams that nobody reads are opened first, so that they are open during the whole
        // measurement.
        let reads = number >= stalled;
        let stream = open(address, reads).await?;
        opened += usize::from(reads);
        let round_of_task = Arc::clone(&round);
        tasks.spawn(async move {
            if reads {
                let seen = Arc::new(Mutex::new(ReaderStats::default()));
                let end = read(&stream, &round_of_task, &seen).await;
                round_of_task.note_end(&seen, &end);
            } else {
                std::future::pending::<()>().await;
            }
            drop(stream);
        });
        while opened - round.readers.load(Relaxed) > MAX_PENDING && started.elapsed() < SUBSCRIBE_TIMEOUT {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
    while round.readers.load(Relaxed) < opened && started.elapsed() < SUBSCRIBE_TIMEOUT {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    Ok(Subscribers { round, opened, connecting: started.elapsed(), tasks })
}

impl Subscribers {
    async fn measure(&self, time: Duration) {
        self.round.measuring.store(true, Relaxed);
        tokio::time::sleep(time).await;
        self.round.measuring.store(false, Relaxed);
    }

    /// Number of missed frames and offsets of received frames, for all readers together.
    fn all(&self) -> (u64, Vec<f64>) {
        let mut all = (0, Vec::new());
        for seen in lock(&self.round.frames).iter() {
            let seen = lock(seen);
            all.0 += seen.missed;
            all.1.extend_from_slice(&seen.offsets);
        }
        all
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Opens an event stream. `reads` is false for a subscriber that will not read the stream.
async fn open(address: SocketAddr, reads: bool) -> Result<TcpStream, BenchError> {
    let socket = TcpSocket::new_v4()?;
    if !reads {
        // The receive buffer is small, so that it is soon full. During the measurement, the server
        // then cannot send to this subscriber.
        socket.set_recv_buffer_size(4096)?;
    }
    let mut stream = socket.connect(address).await?;
    stream.write_all(&get("/events")).await?;
    Ok(stream)
}

thread_local! {
    static BUFFER: RefCell<Vec<u8>> = RefCell::new(vec![0; 256 << 10]);
}

/// Reads a stream until it ends or fails.
async fn read(stream: &TcpStream, round: &Round, seen: &Arc<Mutex<ReaderStats>>) -> Result<(), BenchError> {
    let mut chunks = Chunks::default();
    loop {
        stream.readable().await?;
        // All readers of a thread share one buffer, so that the buffer stays in the processor's
        // cache.
        let got = BUFFER.with_borrow_mut(|buffer| match stream.try_read(buffer) {
            Ok(0) => Err("the end of the stream".into()),
            Ok(length) => {
                let now = round.begun.elapsed().as_secs_f64();
                chunks.take(&buffer[..length], |id, time| note(round, seen, id, now - time))
            }
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => Ok(()),
            Err(error) => Err(BenchError::from(error)),
        });
        got?;
    }
}

/// Records a received frame.
fn note(round: &Round, shared: &Arc<Mutex<ReaderStats>>, id: u64, offset: f64) {
    let mut seen = lock(shared);
    let Some(last) = seen.last_id.replace(id) else {
        round.readers.fetch_add(1, Relaxed);
        lock(&round.frames).push(Arc::clone(shared));
        return;
    };
    if round.measuring.load(Relaxed) {
        // A gap between ids means that frames were skipped, because here the stream contains no
        // events other than frames.
        seen.missed += id.saturating_sub(last + 1);
        seen.offsets.push(offset);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_that_ended_before_its_first_frame_was_counted_twice() {
        let round = Round::new(Instant::now());
        let [with_frame, without_frame] = [(); 2].map(|()| Arc::<Mutex<ReaderStats>>::default());
        note(&round, &with_frame, 1, 0.0);
        assert_eq!(round.broken_of(2), 1);
        round.note_end(&without_frame, &Ok(()));
        assert_eq!(round.broken_of(2), 1);
        round.note_end(&with_frame, &Ok(()));
        assert_eq!(round.broken_of(2), 2);
    }
}
