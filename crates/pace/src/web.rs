//! The web server for a program in virtual time.
//!
//! The server's tasks for the program run on a separate runtime, whose clock is the virtual clock.
//! The time keeper runs that runtime until every task waits, and only then moves time. Therefore
//! the server's answers do not depend on the speed of the machine either.

use crate::layout::TICK_NS;
use crate::report::SentBytes;
use crate::stream::{TimeKeeperEnd, VirtualStream, connection};
use crate::work::Work;
use std::collections::{BTreeMap, VecDeque};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};

/// Maximum number of bytes that are delivered at once. With a fixed size, the program needs the
/// same number of reads in every run.
const PIECE: usize = 16 << 10;
/// While the server has at least this many unread bytes of a connection, the time keeper reads no
/// more from the connection's socket.
const MAX_UNREAD: usize = 256 << 10;
/// Maximum number of connections at a time. Further connections wait to be accepted.
const MAX_CONNECTIONS: usize = 256;
/// Timeout for the server's work at one moment of virtual time.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(20);
/// Pause between two checks whether other threads have finished their work.
const SETTLE_PAUSE: Duration = Duration::from_micros(30);

/// A task of the server.
pub type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Serves the program's connections.
pub trait Serve: Send + Sync {
    /// Serves one connection until it ends.
    fn serve(&self, stream: VirtualStream) -> Task;
    /// A task that runs as long as the program can connect.
    fn background(&self) -> Task;
}

/// Why the server did not finish its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unsettled {
    /// The time keeper has to stop.
    Stopped,
    /// The server did not finish its work in time.
    TooSlow,
}

/// A chunk of an answer that will be delivered to the program.
struct Piece {
    /// The earliest time of the delivery, in virtual nanoseconds.
    due: u64,
    bytes: Vec<u8>,
    /// Number of the bytes that were delivered.
    done: usize,
}

/// One connection of the program.
struct Connection {
    socket: TcpStream,
    end: TimeKeeperEnd,
    /// When the program's last bytes were read, in virtual nanoseconds.
    read_at: u64,
    pieces: VecDeque<Piece>,
    /// Whether the program has closed its side.
    program_ended: bool,
    /// When the program will see the end of the connection, in virtual nanoseconds. `None` while
    /// the server's side is open.
    end_due: Option<u64>,
    /// Whether the program was told about the end of the server's side.
    finished: bool,
}

/// Counts the times that the runtime parked, which it does when no task can run.
#[derive(Default)]
struct Parks {
    count: AtomicU64,
    waker: Mutex<Option<Waker>>,
}

impl Parks {
    fn park(&self) {
        self.count.fetch_add(1, SeqCst);
        if let Some(waker) = self.waker.lock().unwrap_or_else(PoisonError::into_inner).take() {
            waker.wake();
        }
    }

    /// Waits until the runtime parks the next time.
    async fn next(&self) {
        let before = self.count.load(SeqCst);
        std::future::poll_fn(|cx| {
            if self.count.load(SeqCst) > before {
                return Poll::Ready(());
            }
            *self.waker.lock().unwrap_or_else(PoisonError::into_inner) = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

/// The program's connections, and the runtime of the tasks that serve them.
pub(crate) struct Web {
    /// When dropped, ends the blocking task that keeps the runtime's clock from advancing by
    /// itself. This field is dropped before the runtime, because the runtime waits for that task.
    _inhibitor: SyncSender<()>,
    runtime: Runtime,
    parks: Arc<Parks>,
    /// The clock of the runtime in virtual nanoseconds.
    clock: u64,
    listeners: Vec<TcpListener>,
    /// The connections by number (see `accept`).
    connections: BTreeMap<u64, Connection>,
    next_number: u64,
    serve: Arc<dyn Serve>,
    work: Arc<Work>,
    stop: Arc<AtomicBool>,
    /// What the program has sent since the last call of `take_sent`.
    sent: Vec<SentBytes>,
}

impl Web {
    pub(crate) fn new(
        listeners: Vec<TcpListener>,
        serve: Arc<dyn Serve>,
        work: Arc<Work>,
        stop: Arc<AtomicBool>,
    ) -> io::Result<Web> {
        for listener in &listeners {
            listener.set_nonblocking(true)?;
        }
        let parks = Arc::<Parks>::default();
        let parked = Arc::clone(&parks);
        let runtime = Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .on_thread_park(move || parked.park())
            .build()?;
        // If all tasks wait, a paused clock of tokio advances by itself, unless a blocking task
        // runs.
        let (inhibitor, inhibited) = sync_channel::<()>(0);
        drop(runtime.spawn_blocking(move || inhibited.recv().is_ok()));
        drop(runtime.spawn(serve.background()));
        let connections = BTreeMap::new();
        Ok(Web {
            _inhibitor: inhibitor,
            runtime,
            parks,
            clock: 0,
            listeners,
            connections,
            next_number: 0,
            serve,
            work,
            stop,
            sent: Vec::new(),
        })
    }

    /// Accepts connections and passes the received bytes to the server, one connection after the
    /// other. Returns whether a connection was accepted or anything was received.
    pub(crate) fn collect(&mut self, now: u64) -> Result<bool, Unsettled> {
        let mut any = self.accept();
        let numbers: Vec<u64> = self.connections.keys().copied().collect();
        for number in numbers {
            let Some(connection) = self.connections.get_mut(&number) else { continue };
            if let Some(bytes) = connection.read(now) {
                self.sent.push(SentBytes::new(now, number, &bytes));
                any = true;
                self.settle(now)?;
            }
        }
        let is_over = |c: &Connection| c.program_ended && c.finished;
        self.connections.retain(|_, connection| !is_over(connection));
        Ok(any)
    }

    /// Accepts the waiting connections. Returns whether there were any. They are numbered in the
    /// alphabetical order of their first bytes and not in the order of their arrival, because the
    /// arrival order of two threads that connect at the same moment differs from run to run.
    fn accept(&mut self) -> bool {
        let mut new: Vec<(Vec<u8>, TcpStream)> = Vec::new();
        for listener in &self.listeners {
            while self.connections.len() + new.len() < MAX_CONNECTIONS
                && let Ok((socket, _)) = listener.accept()
            {
                if socket.set_nonblocking(true).is_ok() && socket.set_nodelay(true).is_ok() {
                    let mut first = vec![0; 4096];
                    let length = socket.peek(&mut first).unwrap_or(0);
                    first.truncate(length);
                    new.push((first, socket));
                }
            }
        }
        new.sort_by(|a, b| a.0.cmp(&b.0));
        let any = !new.is_empty();
        for (_, socket) in new {
            let Ok(local) = socket.local_addr() else { continue };
            let (stream, end) = connection(local);
            drop(self.runtime.spawn(self.serve.serve(stream)));
            self.connections.insert(
                self.next_number,
                Connection {
                    socket,
                    end,
                    read_at: 0,
                    pieces: VecDeque::new(),
                    program_ended: false,
                    end_due: None,
                    finished: false,
                },
            );
            self.next_number += 1;
        }
        any
    }

    /// Runs the server until it waits for the program or for simulated time, and collects its
    /// answers.
    pub(crate) fn settle(&mut self, now: u64) -> Result<(), Unsettled> {
        self.work.set_now(now);
        if now > self.clock {
            let passed = Duration::from_nanos(now - self.clock);
            self.runtime.block_on(tokio::time::advance(passed));
            self.clock = now;
        }
        let started = Instant::now();
        loop {
            // Other threads may finish their work after the tasks have run. Therefore the tasks run
            // once more after all work is done.
            let settled = self.work.is_settled();
            self.run_tasks();
            if settled && self.work.is_settled() {
                break;
            }
            if self.stop.load(SeqCst) {
                return Err(Unsettled::Stopped);
            }
            if started.elapsed() > SETTLE_TIMEOUT {
                return Err(Unsettled::TooSlow);
            }
            if !self.work.is_settled() {
                std::thread::sleep(SETTLE_PAUSE);
            }
        }
        for connection in self.connections.values_mut() {
            connection.take_output(now);
        }
        Ok(())
    }

    /// Runs the tasks until all of them wait.
    fn run_tasks(&self) {
        let changes = || self.connections.values().map(|connection| connection.end.changes()).sum::<u64>();
        self.runtime.block_on(async {
            let mut before = changes();
            loop {
                // While the runtime is parked, timers and other threads can wake tasks. Therefore
                // the runtime counts as idle only when it has parked twice and no connection has
                // changed meanwhile.
                self.parks.next().await;
                self.parks.next().await;
                let now = changes();
                if now == before {
                    break;
                }
                before = now;
            }
        });
    }

    /// Ends the tasks of the server and returns the sockets. The program notices nothing until the
    /// sockets are dropped.
    pub(crate) fn into_sockets(self) -> Vec<OwnedFd> {
        let connections = self.connections.into_values().map(|connection| OwnedFd::from(connection.socket));
        self.listeners.into_iter().map(OwnedFd::from).chain(connections).collect()
    }

    /// What the program has sent since the last call.
    pub(crate) fn take_sent(&mut self) -> Vec<SentBytes> {
        std::mem::take(&mut self.sent)
    }

    /// Whether an answer can become ready at any tick.
    pub(crate) fn needs_ticks(&self) -> bool {
        self.work.needs_ticks() || self.connections.values().any(|connection| connection.end.is_upgraded())
    }

    /// When the next bytes or the next end of a connection are due, in virtual nanoseconds, and the
    /// number of this connection. `None` if nothing is due.
    pub(crate) fn next_due(&self) -> Option<(u64, u64)> {
        let due = |(number, connection): (&u64, &Connection)| Some((connection.due()?, *number));
        self.connections.iter().filter_map(due).min()
    }

    /// Delivers the next chunk of a connection, or its end after the last chunk. Returns whether
    /// the server has to be settled again.
    pub(crate) fn deliver(&mut self, number: u64) -> bool {
        let Some(connection) = self.connections.get_mut(&number) else { return false };
        connection.deliver()
    }

    /// Immediately acknowledges the received bytes of the connections with these ports.
    pub(crate) fn acknowledge(&self, ports: &[(u16, u16)]) {
        for connection in self.connections.values() {
            let address = |address: io::Result<std::net::SocketAddr>| address.map_or(0, |a| a.port());
            let own = (address(connection.socket.local_addr()), address(connection.socket.peer_addr()));
            if ports.contains(&own) {
                let _ = rustix::net::sockopt::set_tcp_quickack(&connection.socket, true);
            }
        }
    }
}

impl Connection {
    /// Reads the received bytes, and notes the end of the connection. The result is empty if only
    /// the end or an error was read, and `None` if there was nothing to read.
    fn read(&mut self, now: u64) -> Option<Vec<u8>> {
        let mut any = false;
        let mut all = Vec::new();
        let mut bytes = [0; 16 << 10];
        while !self.program_ended && self.end.unread() < MAX_UNREAD {
            match self.socket.read(&mut bytes) {
                Ok(0) => {
                    self.program_ended = true;
                    self.end.end();
                    any = true;
                }
                Ok(length) => {
                    self.end.receive(&bytes[..length]);
                    all.extend_from_slice(&bytes[..length]);
                    (any, self.read_at) = (true, now);
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => break,
                Err(_) => {
                    self.break_off();
                    any = true;
                }
            }
        }
        any.then_some(all)
    }

    fn break_off(&mut self) {
        self.end.break_off();
        self.pieces.clear();
        (self.program_ended, self.finished) = (true, true);
    }

    /// Collects what the server has written since the last call.
    fn take_output(&mut self, now: u64) {
        // The answer to a request arrives at least one tick after the request.
        let due = now.max(self.read_at + TICK_NS);
        for bytes in self.end.take().chunks(PIECE) {
            self.pieces.push_back(Piece { due, bytes: bytes.to_vec(), done: 0 });
        }
        if self.end_due.is_none() && self.end.is_closed() {
            self.end_due = Some(due);
        }
    }

    /// When the next bytes or the end of the connection are due, in virtual nanoseconds. `None` if
    /// there is neither, or if the socket accepts no more bytes now.
    fn due(&self) -> Option<u64> {
        if self.finished {
            return None;
        }
        let due = self.pieces.front().map(|piece| piece.due).or(self.end_due)?;
        let mut ready = [rustix::event::PollFd::new(&self.socket, rustix::event::PollFlags::OUT)];
        let now = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
        let writable = rustix::event::poll(&mut ready, Some(&now)).is_ok_and(|ready| ready > 0);
        writable.then_some(due)
    }

    fn deliver(&mut self) -> bool {
        let Some(piece) = self.pieces.front_mut() else {
            let _ = self.socket.shutdown(Shutdown::Write);
            self.finished = true;
            return false;
        };
        let rest = &piece.bytes[piece.done..];
        match self.socket.write(rest) {
            Ok(length) if length == rest.len() => {
                let length = piece.bytes.len();
                self.pieces.pop_front();
                self.end.delivered(length)
            }
            Ok(length) => {
                piece.done += length;
                false
            }
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => false,
            Err(_) => {
                self.break_off();
                true
            }
        }
    }
}
