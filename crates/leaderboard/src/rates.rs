//! Limits how often a student and an address may hand in.
//!
//! The size of the table with the times of submissions and attempts is limited. When the table is
//! full, students without a submission in the last hour and addresses without an attempt in the
//! last hour are removed. If the table is still full, new students and addresses have to wait.

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;
use std::time::{Duration, Instant};

const HOUR: Duration = Duration::from_secs(3600);
/// Largest number of students and addresses together in the table.
const MAX_ENTRIES: usize = 4096;
/// Largest number of attempts of one address in an hour. The limit is large, because a class can
/// share one address.
pub(crate) const PER_ADDRESS: usize = 600;
/// Largest number of submissions of one student in an hour.
pub(crate) const PER_STUDENT: usize = 30;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Owner {
    Student(String),
    Address(IpAddr),
}

/// The times of the submissions of students and the attempts of addresses in the last hour.
#[derive(Debug, Default)]
pub(crate) struct Rates {
    times: BTreeMap<Owner, VecDeque<Instant>>,
}

impl Rates {
    /// Counts an attempt of an address. If there were too many attempts, or if the table is full,
    /// does not count this attempt, and returns the time to wait.
    pub(crate) fn count_address(&mut self, address: IpAddr, now: Instant) -> Result<(), Duration> {
        let owner = Owner::Address(of_network(address));
        self.check(&owner, PER_ADDRESS, Duration::ZERO, now)?;
        self.times.entry(owner).or_default().push_back(now);
        Ok(())
    }

    /// Checks whether a student may hand in. Returns the time to wait if not.
    pub(crate) fn check_student(&mut self, key: &str, gap: Duration, now: Instant) -> Result<(), Duration> {
        self.check(&Owner::Student(key.to_owned()), PER_STUDENT, gap, now)
    }

    /// Counts a submission of a student.
    pub(crate) fn count_student(&mut self, key: &str, now: Instant) {
        self.times.entry(Owner::Student(key.to_owned())).or_default().push_back(now);
    }

    fn check(&mut self, owner: &Owner, per_hour: usize, gap: Duration, now: Instant) -> Result<(), Duration> {
        let is_old = |time: Instant| now.saturating_duration_since(time) >= HOUR;
        let Some(times) = self.times.get_mut(owner) else {
            if self.times.len() >= MAX_ENTRIES {
                self.times.retain(|_, times| times.back().is_some_and(|last| !is_old(*last)));
            }
            return if self.times.len() < MAX_ENTRIES { Ok(()) } else { Err(Duration::from_secs(60)) };
        };
        while times.front().is_some_and(|first| is_old(*first)) {
            times.pop_front();
        }
        let since = |time: Instant| now.saturating_duration_since(time);
        let after_gap = times.back().map_or(Duration::ZERO, |last| gap.saturating_sub(since(*last)));
        let after_hour = match times.len() >= per_hour {
            true => times.front().map_or(Duration::ZERO, |first| HOUR.saturating_sub(since(*first))),
            false => Duration::ZERO,
        };
        match after_gap.max(after_hour) {
            Duration::ZERO => Ok(()),
            wait => Err(wait),
        }
    }
}

/// The address that attempts are counted for. For IPv6 this is the network (the first 64 bits),
/// because one machine can use every address of its network.
pub(crate) fn of_network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(ip) => {
            let [a, b, c, d, ..] = ip.segments();
            IpAddr::from([a, b, c, d, 0, 0, 0, 0])
        }
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAP: Duration = Duration::from_secs(10);

    #[test]
    fn a_student_waits_between_two_submissions() {
        let (mut rates, start) = (Rates::default(), Instant::now());
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        assert_eq!(rates.check_student("ada", GAP, at(0)), Ok(()));
        rates.count_student("ada", at(0));
        assert_eq!(rates.check_student("ada", GAP, at(3)), Err(Duration::from_secs(7)));
        assert_eq!(rates.check_student("bob", GAP, at(3)), Ok(()));
        assert_eq!(rates.check_student("ada", GAP, at(10)), Ok(()));
    }

    #[test]
    fn a_student_has_a_number_of_submissions_in_an_hour() {
        let (mut rates, start) = (Rates::default(), Instant::now());
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        for i in 0..PER_STUDENT as u64 {
            assert_eq!(rates.check_student("ada", GAP, at(60 * i)), Ok(()));
            rates.count_student("ada", at(60 * i));
        }
        let after = 60 * PER_STUDENT as u64;
        assert_eq!(rates.check_student("ada", GAP, at(after)), Err(Duration::from_secs(3600 - after)));
        assert_eq!(rates.check_student("ada", GAP, at(3600)), Ok(()));
    }

    #[test]
    fn the_table_is_bounded_and_forgets_after_an_hour() {
        let (mut rates, start) = (Rates::default(), Instant::now());
        for i in 0..MAX_ENTRIES as u32 {
            assert_eq!(rates.count_address(IpAddr::from(i.to_be_bytes()), start), Ok(()));
        }
        let other: IpAddr = "2001:db8::1".parse().expect("an address");
        assert!(rates.count_address(other, start).is_err());
        assert_eq!(rates.times.len(), MAX_ENTRIES);
        assert_eq!(rates.count_address(other, start + HOUR), Ok(()));
        let neighbour: IpAddr = "2001:db8::2".parse().expect("an address");
        assert_eq!(of_network(other), of_network(neighbour));
    }
}
