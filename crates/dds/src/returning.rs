//! Decides when the robot's participant has to be replaced, so that a lost program is found again.
//!
//! `rustdds` forgets another program's participant when the lease of that participant expires, for
//! example because the process was stopped, or because the queue of `rustdds` for lease renewals
//! was full. The program is then lost. It repeats its announcement with the same sequence number,
//! and `rustdds` drops the announcement as a duplicate. Only a participant that has never seen the
//! announcement finds the program.
//!
//! Therefore a spare participant, which has no topics, is opened as soon as the robot's participant
//! has lost another program's participant. When the spare participant finds the lost participant,
//! the spare participant becomes the robot's participant. A spare participant that has itself lost
//! another participant has the same defect, so it is replaced by a new one.
//!
//! A participant whose threads have ended can't find programs, and programs can't find it. Then a
//! spare participant is opened and immediately becomes the robot's participant.
//!
//! This module does not use DDS. It gets the changes that participants report, and returns the next
//! action.

use std::collections::{BTreeSet, VecDeque};

/// The part of a GUID that identifies a participant.
pub(super) type ParticipantId = [u8; 12];

/// Maximum number of lost participants. If more are lost, the oldest are forgotten.
const MAX_LOST: usize = 256;
/// Maximum number of found participants that are remembered for the spare participant. Further
/// participants are ignored.
const MAX_FOUND: usize = 4096;
/// Maximum number of this program's participants whose ids are remembered. At most three of them
/// exist at a time.
const MAX_OWN: usize = 16;

/// A change that the robot's participant or the spare participant reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// A participant was found.
    Found(ParticipantId),
    /// A participant announced its end.
    Left(ParticipantId),
    /// The lease of a participant expired.
    Expired(ParticipantId),
    /// The participant that reports has ended: it no longer receives packets.
    Ended,
}

/// A loss that the robot's participant has reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Loss {
    /// Another program was lost.
    Program,
    /// The connection to the graph was lost, because the robot's participant has ended.
    Graph,
}

/// What has to be done with the spare participant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    /// Nothing.
    Nothing,
    /// Open a new spare participant, and close the present one.
    OpenSpare,
    /// Close the spare participant.
    CloseSpare,
    /// Make the spare participant the robot's participant.
    UseSpare,
}

/// What the robot's participant and the spare participant know about other participants.
#[derive(Debug, Default)]
pub(super) struct LostParticipants {
    /// Participants that the robot's participant has lost and not found again, oldest first.
    lost: VecDeque<ParticipantId>,
    /// Whether the robot's participant has ended.
    robot_ended: bool,
    spare: Option<SpareKnowledge>,
    /// Participants of this program. Their end is not a loss.
    own: VecDeque<ParticipantId>,
}

/// What the spare participant knows.
#[derive(Debug, Default)]
struct SpareKnowledge {
    found: BTreeSet<ParticipantId>,
    /// Whether the spare participant has lost another program's participant, or has ended.
    is_unusable: bool,
}

impl LostParticipants {
    /// Notes that a participant belongs to this program.
    pub(super) fn opened(&mut self, id: ParticipantId) {
        self.own.push_back(id);
        if self.own.len() > MAX_OWN {
            self.own.pop_front();
        }
    }

    /// Notes that there is a new spare participant.
    pub(super) fn spare_opened(&mut self) {
        self.spare = Some(SpareKnowledge::default());
    }

    /// Notes that there is no spare participant.
    pub(super) fn spare_closed(&mut self) {
        self.spare = None;
    }

    /// Notes that the spare participant has become the robot's participant, which has not lost any
    /// participant yet. Returns the loss that was the reason.
    pub(super) fn spare_used(&mut self) -> Loss {
        self.lost.clear();
        self.spare = None;
        if std::mem::take(&mut self.robot_ended) { Loss::Graph } else { Loss::Program }
    }

    /// Notes a change that the robot's participant reports. Returns the loss if it is new.
    pub(super) fn robot_reports(&mut self, change: Change) -> Option<Loss> {
        match change {
            Change::Found(id) | Change::Left(id) => self.lost.retain(|lost| *lost != id),
            Change::Expired(id) if self.own.contains(&id) || self.lost.contains(&id) => {}
            Change::Expired(id) => {
                self.lost.push_back(id);
                if self.lost.len() > MAX_LOST {
                    self.lost.pop_front();
                }
                return Some(Loss::Program);
            }
            Change::Ended => {
                let is_known = std::mem::replace(&mut self.robot_ended, true);
                return (!is_known).then_some(Loss::Graph);
            }
        }
        None
    }

    /// Notes a change that the spare participant reports.
    pub(super) fn spare_reports(&mut self, change: Change) {
        let Some(spare) = &mut self.spare else { return };
        match change {
            Change::Found(id) => {
                if spare.found.len() < MAX_FOUND {
                    spare.found.insert(id);
                }
            }
            Change::Left(id) => {
                spare.found.remove(&id);
                self.lost.retain(|lost| *lost != id);
            }
            Change::Expired(id) => {
                spare.found.remove(&id);
                spare.is_unusable |= !self.own.contains(&id);
            }
            Change::Ended => spare.is_unusable = true,
        }
    }

    /// What has to be done now.
    pub(super) fn action(&self) -> Action {
        match &self.spare {
            None if self.lost.is_empty() && !self.robot_ended => Action::Nothing,
            None => Action::OpenSpare,
            Some(_) if self.lost.is_empty() && !self.robot_ended => Action::CloseSpare,
            Some(spare) if spare.is_unusable => Action::OpenSpare,
            Some(_) if self.robot_ended => Action::UseSpare,
            Some(spare) if self.lost.iter().any(|lost| spare.found.contains(lost)) => Action::UseSpare,
            Some(_) => Action::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const P: ParticipantId = [1; 12];
    const Q: ParticipantId = [2; 12];
    const OWN: ParticipantId = [3; 12];

    fn with_spare_after_loss_of(id: ParticipantId) -> LostParticipants {
        let mut all = LostParticipants::default();
        assert_eq!(all.robot_reports(Change::Expired(id)), Some(Loss::Program));
        assert_eq!(all.action(), Action::OpenSpare);
        all.spare_opened();
        assert_eq!(all.action(), Action::Nothing);
        all
    }

    #[test]
    fn the_spare_is_used_when_it_finds_a_lost_participant() {
        let mut all = with_spare_after_loss_of(P);
        all.spare_reports(Change::Found(Q));
        assert_eq!(all.action(), Action::Nothing);
        all.spare_reports(Change::Found(P));
        assert_eq!(all.action(), Action::UseSpare);
        assert_eq!(all.spare_used(), Loss::Program);
        assert_eq!(all.action(), Action::Nothing);
    }

    #[test]
    fn the_spare_is_closed_when_the_lost_participant_ends_or_is_found() {
        for change in [Change::Left(P), Change::Found(P)] {
            let mut all = with_spare_after_loss_of(P);
            all.robot_reports(change);
            assert_eq!(all.action(), Action::CloseSpare);
            all.spare_closed();
            assert_eq!(all.action(), Action::Nothing);
        }
        let mut all = with_spare_after_loss_of(P);
        all.spare_reports(Change::Left(P));
        assert_eq!(all.action(), Action::CloseSpare);
    }

    #[test]
    fn a_spare_that_has_lost_a_participant_is_replaced() {
        let mut all = with_spare_after_loss_of(P);
        all.spare_reports(Change::Found(Q));
        all.spare_reports(Change::Expired(Q));
        assert_eq!(all.action(), Action::OpenSpare);
        all.spare_opened();
        all.robot_reports(Change::Expired(Q));
        all.spare_reports(Change::Found(Q));
        assert_eq!(all.action(), Action::UseSpare);
    }

    #[test]
    fn a_participant_that_only_the_robot_has_lost_is_found_by_the_spare_already() {
        let mut all = with_spare_after_loss_of(P);
        all.spare_reports(Change::Found(Q));
        all.robot_reports(Change::Expired(Q));
        assert_eq!(all.action(), Action::UseSpare);
    }

    #[test]
    fn own_participants_are_never_lost() {
        let mut all = LostParticipants::default();
        all.opened(OWN);
        assert_eq!(all.robot_reports(Change::Expired(OWN)), None);
        assert_eq!(all.action(), Action::Nothing);
        let mut all = with_spare_after_loss_of(P);
        all.opened(OWN);
        all.spare_reports(Change::Expired(OWN));
        assert_eq!(all.action(), Action::Nothing);
    }

    #[test]
    fn a_participant_that_has_ended_is_replaced_at_once() {
        let mut all = LostParticipants::default();
        assert_eq!(all.robot_reports(Change::Ended), Some(Loss::Graph));
        assert_eq!(all.robot_reports(Change::Ended), None);
        assert_eq!(all.action(), Action::OpenSpare);
        all.spare_opened();
        assert_eq!(all.action(), Action::UseSpare);
        assert_eq!(all.spare_used(), Loss::Graph);
        assert_eq!(all.action(), Action::Nothing);
        assert_eq!(all.robot_reports(Change::Ended), Some(Loss::Graph));
    }

    #[test]
    fn a_spare_that_has_ended_is_replaced() {
        let mut all = with_spare_after_loss_of(P);
        all.spare_reports(Change::Ended);
        assert_eq!(all.action(), Action::OpenSpare);
    }

    #[test]
    fn every_list_has_a_limit() {
        let mut all = LostParticipants::default();
        let ids = (0..10_000_u32).map(|number| {
            let mut id = [0; 12];
            id[..4].copy_from_slice(&number.to_le_bytes());
            id
        });
        all.spare_opened();
        for id in ids {
            all.opened(id.map(|byte| byte ^ 0xff));
            all.robot_reports(Change::Expired(id));
            all.spare_reports(Change::Found(id));
        }
        assert_eq!(all.lost.len(), MAX_LOST);
        assert_eq!(all.own.len(), MAX_OWN);
        assert_eq!(all.spare.map(|spare| spare.found.len()), Some(MAX_FOUND));
    }
}
