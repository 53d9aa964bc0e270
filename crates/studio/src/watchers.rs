//! Event streams of projects, for editors that work on the same project.
//!
//! A stream sends the newest revision and the number of open streams. A slow reader gets only the
//! newest values and misses those in between, so no stream needs a queue.

use crate::studio::lock;
use bytes::Bytes;
use chicane_wire::{ProjectEditors, ProjectRevision};
use futures_util::StreamExt;
use futures_util::stream::{BoxStream, unfold};
use serde::Serialize;
use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::watch;

/// Largest number of streams of one project.
const MAX_STREAMS: u32 = 64;
/// Largest number of projects with streams.
const MAX_PROJECTS: usize = 64;
/// A stream that has sent nothing for this time sends a comment, because the loss of a connection
/// is noticed only when something is sent.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// The events of a project, as bytes of server-sent events.
pub type EventStream = BoxStream<'static, Result<Bytes, Infallible>>;

/// The event stream can't be opened, because too many are open or the simulator stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooManyStreams;

/// What the streams of a project send.
#[derive(Debug, Clone, Default)]
struct Newest {
    revision: u64,
    editor: Option<Arc<str>>,
    editors: u32,
    /// Why the streams end; `None` while they continue.
    end: Option<StreamEnd>,
}

/// Why the streams of a project end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StreamEnd {
    /// The project was deleted. The streams send an event that says so.
    Deleted,
    /// The simulator stops. The project still exists.
    Stopped,
}

/// The open event streams.
#[derive(Default, Clone)]
pub struct Watchers {
    open: Arc<Mutex<Open>>,
}

#[derive(Default)]
struct Open {
    projects: BTreeMap<String, watch::Sender<Newest>>,
    closed: bool,
}

impl Watchers {
    /// Tells the streams of a project that it has a new revision.
    pub(crate) fn changed(&self, id: &str, revision: u64, editor: Option<&str>) {
        if let Some(newest) = lock(&self.open).projects.get(id) {
            newest.send_modify(|newest| {
                // Two changes may be announced in another order than they were stored in. An older
                // revision is ignored.
                if revision > newest.revision {
                    newest.revision = revision;
                    newest.editor = editor.map(Arc::from);
                }
            });
        }
    }

    /// Ends the streams of a project.
    pub(crate) fn deleted(&self, id: &str) {
        if let Some(newest) = lock(&self.open).projects.remove(id) {
            newest.send_modify(|newest| newest.end = Some(StreamEnd::Deleted));
        }
    }

    /// Ends all streams, and opens no more.
    pub fn close(&self) {
        let mut open = lock(&self.open);
        open.closed = true;
        for newest in std::mem::take(&mut open.projects).into_values() {
            newest.send_modify(|newest| newest.end = Some(StreamEnd::Stopped));
        }
    }

    /// Opens a stream. Its first event is the revision that `current` returns, or a newer one. The
    /// stream is registered before `current` is called, so that no later change is missed.
    pub fn subscribe<E: From<TooManyStreams>>(
        &self,
        id: &str,
        current: impl FnOnce() -> Result<u64, E>,
    ) -> Result<EventStream, E> {
        let newest = {
            let mut open = lock(&self.open);
            let is_full = open.projects.len() >= MAX_PROJECTS && !open.projects.contains_key(id);
            if open.closed || is_full {
                return Err(TooManyStreams.into());
            }
            let newest = open.projects.entry(id.to_owned()).or_default();
            if newest.borrow().editors >= MAX_STREAMS {
                return Err(TooManyStreams.into());
            }
            newest.send_modify(|newest| newest.editors += 1);
            newest.clone()
        };
        let mut receiver = newest.subscribe();
        let place = StreamPlace { watchers: self.clone(), id: id.to_owned(), newest };
        let stored = current()?;
        receiver.mark_changed();
        let reader =
            Reader { receiver, stored, sent: Newest::default(), ready: VecDeque::new(), _place: place };
        let stream = unfold(reader, |mut reader| async move {
            let bytes = reader.next().await?;
            Some((Ok(bytes), reader))
        });
        Ok(stream.boxed())
    }
}

/// Counts one open stream until this value is dropped.
struct StreamPlace {
    watchers: Watchers,
    id: String,
    newest: watch::Sender<Newest>,
}

impl Drop for StreamPlace {
    fn drop(&mut self) {
        let mut open = lock(&self.watchers.open);
        // If the project was deleted and restored meanwhile, the entry belongs to newer streams and
        // must not be changed.
        let newest = open.projects.get(&self.id).filter(|newest| newest.same_channel(&self.newest));
        let Some(newest) = newest else { return };
        newest.send_modify(|newest| newest.editors = newest.editors.saturating_sub(1));
        let is_last = newest.borrow().editors == 0;
        if is_last {
            open.projects.remove(&self.id);
        }
    }
}

struct Reader {
    receiver: watch::Receiver<Newest>,
    /// The revision that `current` returned when the stream was opened. It is not written to the
    /// shared [`Newest`]. Otherwise [`Watchers::changed`] would ignore this revision if it is
    /// announced later, and the other streams would not get the name of the editor who saved it.
    stored: u64,
    /// The values that were sent last.
    sent: Newest,
    ready: VecDeque<Bytes>,
    _place: StreamPlace,
}

impl Reader {
    /// The next event; `None` at the end of the stream.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(bytes) = self.ready.pop_front() {
                return Some(bytes);
            }
            if self.sent.end.is_some() {
                return None;
            }
            match tokio::time::timeout(HEARTBEAT, self.receiver.changed()).await {
                Err(_) => return Some(Bytes::from_static(b": \n\n")),
                Ok(Err(_)) => return None,
                Ok(Ok(())) => {}
            }
            let mut newest = self.receiver.borrow_and_update().clone();
            if newest.revision < self.stored {
                (newest.revision, newest.editor) = (self.stored, None);
            }
            if newest.end == Some(StreamEnd::Deleted) {
                self.ready.push_back(Bytes::from_static(b"event: deleted\ndata: {}\n\n"));
            }
            if newest.revision != self.sent.revision {
                let editor = newest.editor.as_deref().map(str::to_owned);
                let revision = ProjectRevision { revision: newest.revision, editor };
                self.ready.extend(event("revision", &revision));
            }
            if newest.editors != self.sent.editors {
                self.ready.extend(event("editors", &ProjectEditors { count: newest.editors }));
            }
            self.sent = newest;
        }
    }
}

/// An event in the format of server-sent events.
fn event(name: &str, data: &impl Serialize) -> Option<Bytes> {
    let data = serde_json::to_string(data).ok()?;
    Some(Bytes::from(format!("event: {name}\ndata: {data}\n\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq)]
    struct Refused;

    impl From<TooManyStreams> for Refused {
        fn from(_: TooManyStreams) -> Refused {
            Refused
        }
    }

    fn open(watchers: &Watchers) -> EventStream {
        watchers.subscribe::<Refused>("a", || Ok(3)).unwrap_or_else(|_| panic!("refused"))
    }

    async fn next(stream: &mut EventStream) -> Option<String> {
        stream.next().await.map(|Ok(bytes)| String::from_utf8(bytes.to_vec()).expect("text"))
    }

    #[tokio::test]
    async fn streams_send_revisions_and_the_number_of_editors() {
        let watchers = Watchers::default();
        let mut first = open(&watchers);
        let event = |name: &str, data: &str| Some(format!("event: {name}\ndata: {data}\n\n"));
        assert_eq!(next(&mut first).await, event("revision", r#"{"revision":3,"editor":null}"#));
        assert_eq!(next(&mut first).await, event("editors", r#"{"count":1}"#));
        let second = open(&watchers);
        assert_eq!(next(&mut first).await, event("editors", r#"{"count":2}"#));
        watchers.changed("a", 4, Some("left \"tab\"\n"));
        let changed = event("revision", r#"{"revision":4,"editor":"left \"tab\"\n"}"#);
        assert_eq!(next(&mut first).await, changed, "a line end is escaped");
        drop(second);
        assert_eq!(next(&mut first).await, event("editors", r#"{"count":1}"#));
        watchers.changed("b", 9, None);
        watchers.changed("a", 3, Some("late"));
        watchers.deleted("a");
        assert_eq!(next(&mut first).await, event("deleted", "{}"));
        assert_eq!(next(&mut first).await, None);
    }

    #[tokio::test]
    async fn the_stop_of_the_simulator_was_announced_as_the_deletion_of_every_project() {
        let watchers = Watchers::default();
        let mut stream = open(&watchers);
        for _ in 0..2 {
            next(&mut stream).await;
        }
        watchers.close();
        assert_eq!(next(&mut stream).await, None);
    }

    #[tokio::test]
    async fn a_new_stream_swallowed_the_name_of_an_editor() {
        let watchers = Watchers::default();
        let mut first = open(&watchers);
        for _ in 0..2 {
            next(&mut first).await;
        }
        // Revision 4 is stored, but not announced yet.
        let second = watchers.subscribe::<Refused>("a", || Ok(4)).unwrap_or_else(|_| panic!("refused"));
        assert_eq!(next(&mut first).await.as_deref(), Some("event: editors\ndata: {\"count\":2}\n\n"));
        watchers.changed("a", 4, Some("left"));
        let changed = "event: revision\ndata: {\"revision\":4,\"editor\":\"left\"}\n\n";
        assert_eq!(next(&mut first).await.as_deref(), Some(changed));
        drop(second);
    }

    /// Regression test: the entry was found by the id of the project only.
    #[tokio::test]
    async fn an_old_stream_ended_the_streams_of_a_restored_project() {
        let watchers = Watchers::default();
        let old = open(&watchers);
        watchers.deleted("a");
        let mut new = open(&watchers);
        for _ in 0..2 {
            next(&mut new).await;
        }
        drop(old);
        watchers.changed("a", 4, None);
        let changed = "event: revision\ndata: {\"revision\":4,\"editor\":null}\n\n";
        assert_eq!(next(&mut new).await.as_deref(), Some(changed));
        drop(new);
        assert!(lock(&watchers.open).projects.is_empty(), "nothing is left behind");
    }

    #[tokio::test]
    async fn the_number_of_streams_is_limited() {
        let watchers = Watchers::default();
        let streams: Vec<_> = (0..MAX_STREAMS).map(|_| open(&watchers)).collect();
        assert!(watchers.subscribe::<Refused>("a", || Ok(1)).is_err());
        drop(streams);
        assert!(lock(&watchers.open).projects.is_empty(), "nothing is left behind");
        drop(open(&watchers));
        watchers.close();
        assert!(watchers.subscribe::<Refused>("a", || Ok(1)).is_err());
    }
}
