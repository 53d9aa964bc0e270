//! The robot's connection to a ROS 2 graph. The connection continues when the robot's participant
//! is replaced.
//!
//! A task regularly asks the participants for changes, and executes the actions that `returning`
//! decides. Before the spare participant becomes the robot's participant, the task creates all
//! topics on it. Then the task waits until each new topic has at least as many subscribers as the
//! same topic of the old participant, but at most 2 s. Therefore the programs that were not lost
//! miss few messages. At any time, only one of the two participants publishes, and the commands of
//! only one are executed.

use crate::commands::CommandStreams;
use crate::options::RosOptions;
use crate::participant::{BareParticipant, RobotParticipant};
use crate::returning::{Action, Loss, LostParticipants, ParticipantId};
use crate::{JoinError, network};
use chicane_ros::{Durability, Message, Outgoing, Topic};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant, SystemTime};
use tokio::sync::{mpsc, watch};

/// Time between two requests for the changes of the participants.
const CHECK_INTERVAL: Duration = Duration::from_millis(200);
/// Shortest time between opening or closing the spare participant and the next action. Otherwise
/// programs that are lost and found again in quick succession could make the robot open
/// participants continuously.
const PAUSE: Duration = Duration::from_secs(2);
/// Shortest time between a replacement of the robot's participant and the next action. Otherwise a
/// program with a very short lease could make the robot replace its participant continuously.
const PAUSE_AFTER_REPLACEMENT: Duration = Duration::from_secs(10);
/// Maximum time to wait until the subscribers of the old participant have found the topics of the
/// new participant.
const MATCH_TIMEOUT: Duration = Duration::from_secs(2);
/// Time between two comparisons of the numbers of subscribers.
const MATCH_INTERVAL: Duration = Duration::from_millis(20);

/// The robot's participant, and the spare participant if there is one.
pub(super) struct Connection {
    options: RosOptions,
    state: RwLock<State>,
    /// The last message of each latched topic. A participant that replaces the robot's participant
    /// publishes these messages again.
    latched: Mutex<BTreeMap<Topic, (Message, SystemTime)>>,
}

struct State {
    /// `None` after [`Connection::leave`].
    robot: Option<RobotParticipant>,
    /// A participant without topics. It is needed when the robot's participant has ended, or has
    /// lost another program's participant and not found it again.
    spare: Option<BareParticipant>,
}

impl Connection {
    /// Joins a domain. Opens sockets and starts threads.
    pub(super) fn join(options: RosOptions) -> Result<Connection, JoinError> {
        let robot = with_topics(open_participant(&options)?, options.domain)?;
        let state = RwLock::new(State { robot: Some(robot), spare: None });
        Ok(Connection { options, state, latched: Mutex::default() })
    }

    /// The streams of the commands that arrive. They can be taken only once.
    pub(super) fn take_streams(&self) -> CommandStreams {
        self.read().robot.as_ref().map(RobotParticipant::take_streams).unwrap_or_default()
    }

    /// Whether a topic of the robot has subscribers.
    pub(super) fn has_subscribers(&self, topic: Topic) -> bool {
        self.read().robot.as_ref().is_some_and(|robot| robot.has_subscribers(topic))
    }

    /// Publishes a message. `at` is the time of the system clock at the tick of the message.
    pub(super) fn publish(&self, out: Outgoing, at: SystemTime) {
        let state = self.read();
        let Some(robot) = &state.robot else { return };
        if out.topic.qos().durability == Durability::TransientLocal {
            self.lock_latched().insert(out.topic, (out.message.clone(), at));
        }
        robot.publish(out, at);
    }

    /// Leaves the graph. Blocks while the participants announce their end to other participants.
    pub(super) fn leave(&self) {
        let mut state = self.write();
        let (robot, spare) = (state.robot.take(), state.spare.take());
        drop(state);
        drop((robot, spare));
    }

    /// Gives `lost` the changes that the participants have reported since the previous call of this
    /// method. Logs new losses.
    fn note_changes(&self, lost: &mut LostParticipants) {
        let state = self.read();
        for change in state.robot.iter().flat_map(|robot| robot.bare().changes()) {
            match lost.robot_reports(change) {
                Some(Loss::Program) => {
                    tracing::info!(
                        "a ROS 2 program gives no sign of life; its messages stop until it returns"
                    );
                }
                Some(Loss::Graph) => {
                    tracing::warn!(
                        "the robot's connection to the ROS 2 graph was interrupted; it joins again"
                    );
                }
                None => {}
            }
        }
        for change in state.spare.iter().flat_map(BareParticipant::changes) {
            lost.spare_reports(change);
        }
    }

    /// Opens a new spare participant in place of the present one, and returns its id. After
    /// [`Connection::leave`], the new participant is dropped. Blocks.
    fn open_spare(&self) -> Result<ParticipantId, JoinError> {
        let new = open_participant(&self.options)?;
        let id = new.id();
        let mut state = self.write();
        let unused = if state.robot.is_some() { state.spare.replace(new) } else { Some(new) };
        drop(state);
        drop(unused);
        Ok(id)
    }

    /// Closes the spare participant. Blocks.
    fn close_spare(&self) {
        let spare = self.write().spare.take();
        drop(spare);
    }

    /// Takes the spare participant and creates the robot's topics on it. Returns `None` if there is
    /// no spare participant. Blocks.
    fn prepare_spare(&self) -> Result<Option<RobotParticipant>, JoinError> {
        let spare = self.write().spare.take();
        spare.map(|spare| with_topics(spare, self.options.domain)).transpose()
    }

    /// Whether each topic of `new` has at least as many subscribers as the same topic of the
    /// robot's participant. Also true after [`Connection::leave`].
    fn is_matched(&self, new: &RobotParticipant) -> bool {
        self.read().robot.as_ref().is_none_or(|old| new.has_all_subscribers_of(old))
    }

    /// Replaces the robot's participant by `new`, which publishes the latched messages. Blocks
    /// while the old participant announces its end. After [`Connection::leave`], `new` is dropped.
    fn replace(&self, new: RobotParticipant) {
        let mut state = self.write();
        let unused = if state.robot.is_some() {
            for (topic, (message, at)) in &*self.lock_latched() {
                new.publish(Outgoing { topic: *topic, message: message.clone() }, *at);
            }
            state.robot.replace(new)
        } else {
            Some(new)
        };
        drop(state);
        drop(unused);
    }

    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_latched(&self) -> std::sync::MutexGuard<'_, BTreeMap<Topic, (Message, SystemTime)>> {
        self.latched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Until `stopped` is set: replaces the robot's participant after it has ended, or after the spare
/// participant has found a lost program. Sends the command streams of the new participant to
/// `streams`.
pub(super) async fn find_lost_programs(
    connection: Arc<Connection>,
    streams: mpsc::Sender<CommandStreams>,
    mut stopped: watch::Receiver<bool>,
) {
    let mut lost = LostParticipants::default();
    if let Some(robot) = &connection.read().robot {
        lost.opened(robot.bare().id());
    }
    let mut paused_until = Instant::now();
    loop {
        tokio::select! {
            () = tokio::time::sleep(CHECK_INTERVAL) => {}
            _ = stopped.wait_for(|stop| *stop) => return,
        }
        connection.note_changes(&mut lost);
        if Instant::now() < paused_until {
            continue;
        }
        let (done, pause) = match lost.action() {
            Action::Nothing => continue,
            Action::OpenSpare => (open_spare(&connection, &mut lost).await, PAUSE),
            Action::CloseSpare => (close_spare(&connection, &mut lost).await, PAUSE),
            Action::UseSpare => (use_spare(&connection, &streams, &mut lost).await, PAUSE_AFTER_REPLACEMENT),
        };
        paused_until = Instant::now() + pause;
        if let Err(error) = done {
            tracing::warn!("the robot can't join the ROS 2 graph again to find lost programs: {error}");
        }
    }
}

async fn open_spare(connection: &Arc<Connection>, lost: &mut LostParticipants) -> Result<(), JoinError> {
    let id = blocking(connection, Connection::open_spare).await??;
    lost.opened(id);
    lost.spare_opened();
    Ok(())
}

async fn close_spare(connection: &Arc<Connection>, lost: &mut LostParticipants) -> Result<(), JoinError> {
    blocking(connection, Connection::close_spare).await?;
    lost.spare_closed();
    Ok(())
}

/// Makes the spare participant, if there is one, the robot's participant.
async fn use_spare(
    connection: &Arc<Connection>,
    streams: &mpsc::Sender<CommandStreams>,
    lost: &mut LostParticipants,
) -> Result<(), JoinError> {
    lost.spare_closed();
    let Some(new) = blocking(connection, Connection::prepare_spare).await?? else { return Ok(()) };
    let end = Instant::now() + MATCH_TIMEOUT;
    while !connection.is_matched(&new) && Instant::now() < end {
        tokio::time::sleep(MATCH_INTERVAL).await;
    }
    let mut new_streams = new.take_streams();
    // The old participant has received the same commands, except those of the lost program.
    // Therefore the commands that the new participant has received so far are dropped, so that no
    // command is executed twice.
    new_streams.skip_waiting();
    // The send fails only if `execute_commands` has ended, because the robot is leaving the graph.
    // Nothing has to be done then.
    let _ = streams.send(new_streams).await;
    blocking(connection, |connection| connection.replace(new)).await?;
    match lost.spare_used() {
        Loss::Program => tracing::info!(
            "a ROS 2 program is back; the robot joined the graph again so that both find each other"
        ),
        Loss::Graph => tracing::info!("the robot joined the ROS 2 graph again"),
    }
    Ok(())
}

/// Runs a function that blocks.
async fn blocking<T: Send + 'static>(
    connection: &Arc<Connection>,
    function: impl FnOnce(&Connection) -> T + Send + 'static,
) -> Result<T, JoinError> {
    let connection = Arc::clone(connection);
    let done = tokio::task::spawn_blocking(move || function(&connection)).await;
    done.map_err(|e| JoinError::Panicked(e.to_string()))
}

/// Opens a participant without topics.
fn open_participant(options: &RosOptions) -> Result<BareParticipant, JoinError> {
    let domain = options.domain;
    let networks = network::addresses(options.network.as_deref())?;
    let before = network::open_descriptors();
    let participant = BareParticipant::open(domain, networks)
        .map_err(|e| JoinError::Participant { domain, reason: e.to_string() })?;
    if options.network.is_none() {
        network::bind_new_sockets_to_loopback(&before);
    }
    Ok(participant)
}

fn with_topics(participant: BareParticipant, domain: u16) -> Result<RobotParticipant, JoinError> {
    RobotParticipant::with_topics(participant)
        .map_err(|e| JoinError::Topics { domain, reason: e.to_string() })
}
