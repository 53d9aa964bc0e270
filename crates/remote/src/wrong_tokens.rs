//! Counts the wrong tokens from each address, to slow down guessing.
//!
//! There are two counts for each address, both over the last second. The first counts requests with
//! a wrong token: from the sixth request on, the verdict is "too many" instead of "wrong". The
//! second counts different wrong tokens. From the sixth on, somebody is guessing, and right tokens
//! are refused too. Otherwise the guesser would still learn from the response which guess is right.
//!
//! A token that was accepted from an address before is accepted again from that address, even while
//! somebody there is guessing. Therefore a guesser does not lock out other people at the same
//! address, for instance behind a router. A page with an outdated token repeats the same token, so
//! it does not count as guessing.
//!
//! The memory is bounded. Accepted tokens are remembered for a limited number of addresses: the
//! address whose last accepted request is the oldest is forgotten first. If wrong tokens come from
//! too many addresses within a second, all further addresses share one count of wrong tokens.
//! Therefore an attacker can't reset the count of one address by using many others.

use std::collections::{BTreeMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Wrong tokens are counted over the last period of this length.
const PERIOD: Duration = Duration::from_secs(1);
/// If an address sends at least this many requests with a wrong token in a period, the verdict is
/// [`Verdict::TooMany`]. If it sends at least this many different wrong tokens, somebody there is
/// guessing.
const LIMIT: usize = 6;
/// Largest number of addresses in each table.
const MAX_ADDRESSES: usize = 4096;

/// The result of checking a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict<T> {
    /// The token is right. Contains what the token gives access to.
    Right(T),
    /// The token is wrong.
    Wrong,
    /// Too many wrong tokens came from this address. This token may be right or wrong.
    TooMany,
}

/// The wrong tokens of all addresses. `T` is what a token gives access to.
#[derive(Debug)]
pub struct WrongTokens<T> {
    counts: Mutex<Counts<T>>,
    /// Hashes wrong tokens with a random key. Wrong tokens are stored as such hashes, because one
    /// of them may be the right token of another simulator.
    hasher: RandomState,
}

#[derive(Debug)]
struct Counts<T> {
    by_address: BTreeMap<IpAddr, Count>,
    /// The shared count of all addresses that are not in `by_address`.
    others: Count,
    /// The last time when addresses without recent wrong tokens were removed from `by_address`.
    swept: Option<Instant>,
    /// What the accepted tokens of each address give access to, and the time of the last request
    /// with one of these tokens.
    accepted: BTreeMap<IpAddr, (Vec<T>, Instant)>,
}

/// The wrong tokens of one address in the last period.
#[derive(Debug, Default)]
struct Count {
    /// The times of requests with a wrong token. At most `LIMIT`.
    requests: VecDeque<Instant>,
    /// Different wrong tokens, as hashes, with the time of their first request. At most `LIMIT`.
    guesses: VecDeque<(Instant, u64)>,
}

impl<T> Default for WrongTokens<T> {
    fn default() -> WrongTokens<T> {
        let counts = Counts {
            by_address: BTreeMap::new(),
            others: Count::default(),
            swept: None,
            accepted: BTreeMap::new(),
        };
        WrongTokens { counts: Mutex::new(counts), hasher: RandomState::new() }
    }
}

impl<T: Copy + Eq> WrongTokens<T> {
    /// Judges a token that came from the address `from`. `found` is what the token gives access to;
    /// `None` if the token is wrong.
    pub fn judge(&self, from: IpAddr, token: &str, found: Option<T>, now: Instant) -> Verdict<T> {
        let from = network(from);
        // No code under this lock panics, so the counts are consistent even if the lock is
        // poisoned.
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        match found {
            Some(found) => counts.right(from, found, now),
            None => counts.wrong(from, self.hasher.hash_one(token), now),
        }
    }
}

impl<T: Copy + Eq> Counts<T> {
    fn right(&mut self, from: IpAddr, found: T, now: Instant) -> Verdict<T> {
        if let Some((tokens, used)) = self.accepted.get_mut(&from)
            && tokens.contains(&found)
        {
            *used = now;
            return Verdict::Right(found);
        }
        let is_full = self.by_address.len() >= MAX_ADDRESSES;
        let count = match self.by_address.get_mut(&from) {
            Some(count) => Some(count),
            None if is_full => Some(&mut self.others),
            None => None,
        };
        if count.is_some_and(|count| count.is_guessed(now)) {
            return Verdict::TooMany;
        }
        // Only a request with a right token gets here, so guessers can't fill this table.
        if self.accepted.len() >= MAX_ADDRESSES
            && !self.accepted.contains_key(&from)
            && let Some(oldest) = self.accepted.iter().min_by_key(|(_, (_, used))| *used).map(|(ip, _)| *ip)
        {
            self.accepted.remove(&oldest);
        }
        let (tokens, used) = self.accepted.entry(from).or_insert_with(|| (Vec::new(), now));
        tokens.push(found);
        *used = now;
        Verdict::Right(found)
    }

    fn wrong(&mut self, from: IpAddr, guess: u64, now: Instant) -> Verdict<T> {
        let count = self.count(from, now);
        count.forget(now);
        if count.guesses.len() < LIMIT && count.guesses.iter().all(|(_, other)| *other != guess) {
            count.guesses.push_back((now, guess));
        }
        if count.requests.len() < LIMIT {
            count.requests.push_back(now);
        }
        if count.requests.len() < LIMIT { Verdict::Wrong } else { Verdict::TooMany }
    }

    /// The count of an address. A new address gets its own count if the table has room, otherwise
    /// the shared count.
    fn count(&mut self, from: IpAddr, now: Instant) -> &mut Count {
        let is_new = !self.by_address.contains_key(&from);
        if is_new && self.by_address.len() >= MAX_ADDRESSES {
            // The table is swept at most once per period, because a sweep takes some time.
            if self.swept.is_none_or(|at| now.saturating_duration_since(at) >= PERIOD) {
                self.swept = Some(now);
                self.by_address.retain(|_, count| {
                    count.forget(now);
                    !count.requests.is_empty()
                });
            }
            if self.by_address.len() >= MAX_ADDRESSES {
                return &mut self.others;
            }
        }
        self.by_address.entry(from).or_default()
    }
}

impl Count {
    /// Removes entries that are older than a period.
    fn forget(&mut self, now: Instant) {
        let is_old = |at: &Instant| now.saturating_duration_since(*at) >= PERIOD;
        while self.requests.front().is_some_and(is_old) {
            self.requests.pop_front();
        }
        while self.guesses.front().is_some_and(|(at, _)| is_old(at)) {
            self.guesses.pop_front();
        }
    }

    /// Whether somebody at this address is guessing tokens.
    fn is_guessed(&mut self, now: Instant) -> bool {
        self.forget(now);
        self.guesses.len() >= LIMIT
    }
}

/// The address under which wrong tokens are counted. A client usually has all IPv6 addresses with
/// the same first 64 bits, so the other 64 bits are ignored.
fn network(from: IpAddr) -> IpAddr {
    match from.to_canonical() {
        IpAddr::V6(ip) => IpAddr::V6(Ipv6Addr::from_bits(ip.to_bits() >> 64 << 64)),
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{Right, TooMany, Wrong};

    fn ip(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    fn guess(counts: &WrongTokens<u8>, from: &str, k: usize, now: Instant) -> Verdict<u8> {
        counts.judge(ip(from), &format!("guess-{k}"), None, now)
    }

    #[test]
    fn tokens_could_be_guessed_thousands_of_times_per_second() {
        let (counts, start) = (WrongTokens::default(), Instant::now());
        let at = |ms| start + Duration::from_millis(ms);
        let verdicts: Vec<_> = (0..8).map(|k| guess(&counts, "192.0.2.1", k, at(k as u64))).collect();
        assert_eq!(verdicts, [Wrong, Wrong, Wrong, Wrong, Wrong, TooMany, TooMany, TooMany]);
        // A right guess is refused too. Otherwise the guesser would learn that it is right.
        assert_eq!(counts.judge(ip("192.0.2.1"), "right", Some(1), at(20)), TooMany);
        assert_eq!(guess(&counts, "192.0.2.2", 0, at(20)), Wrong, "another address");
        assert_eq!(counts.judge(ip("192.0.2.2"), "right", Some(1), at(20)), Right(1));
        // After a second, five more wrong tokens are allowed.
        let verdicts: Vec<_> = (10..17).map(|k| guess(&counts, "192.0.2.1", k, at(1010))).collect();
        assert_eq!(verdicts, [Wrong, Wrong, Wrong, Wrong, Wrong, TooMany, TooMany]);
        assert_eq!(counts.judge(ip("192.0.2.1"), "right", Some(1), at(2011)), Right(1));
    }

    #[test]
    fn a_guesser_does_not_lock_out_the_others_at_his_address() {
        let (counts, now) = (WrongTokens::default(), Instant::now());
        let address = ip("192.0.2.1");
        assert_eq!(counts.judge(address, "right", Some(1), now), Right(1));
        for k in 0..100 {
            guess(&counts, "192.0.2.1", k, now);
        }
        assert_eq!(counts.judge(address, "right", Some(1), now), Right(1));
        assert_eq!(counts.judge(address, "teacher", Some(2), now), TooMany, "not accepted there before");
    }

    #[test]
    fn a_page_with_an_outdated_token_does_not_prevent_a_sign_in() {
        let (counts, now) = (WrongTokens::default(), Instant::now());
        let outdated: Vec<_> =
            (0..50).map(|_| counts.judge(ip("192.0.2.1"), "outdated", None, now)).collect();
        assert_eq!(outdated[4..6], [Wrong, TooMany]);
        assert_eq!(counts.judge(ip("192.0.2.1"), "right", Some(1), now), Right(1));
    }

    #[test]
    fn the_addresses_of_one_ipv6_network_share_a_count() {
        let (counts, now) = (WrongTokens::default(), Instant::now());
        for k in 0..6 {
            guess(&counts, &format!("2001:db8::{k}"), k, now);
        }
        assert_eq!(guess(&counts, "2001:db8::ffff:1:2:3", 9, now), TooMany);
        assert_eq!(guess(&counts, "2001:db8:0:1::1", 9, now), Wrong);
        // An IPv4 address and the same address in the notation of IPv6 share a count.
        for k in 0..6 {
            guess(&counts, "::ffff:192.0.2.9", k, now);
        }
        assert_eq!(guess(&counts, "192.0.2.9", 9, now), TooMany);
    }

    #[test]
    fn many_addresses_neither_fill_the_memory_nor_reset_a_count() {
        let (counts, now) = (WrongTokens::default(), Instant::now());
        for k in 0..6 {
            guess(&counts, "2001:db8::1", k, now);
        }
        let verdicts: Vec<_> =
            (0..2 * MAX_ADDRESSES).map(|k| guess(&counts, &format!("2001:db8:1:{k:x}::1"), k, now)).collect();
        assert_eq!(guess(&counts, "2001:db8::1", 9, now), TooMany);
        let held = |counts: &WrongTokens<u8>| counts.counts.lock().expect("a lock").by_address.len();
        assert_eq!(held(&counts), MAX_ADDRESSES);
        let refused = verdicts.iter().filter(|verdict| **verdict == TooMany).count();
        assert_eq!(refused, MAX_ADDRESSES + 1 - 5, "the addresses without a place share one count");
        // A second later, the table has room again.
        let later = now + PERIOD;
        assert_eq!(guess(&counts, "2001:db8:2::1", 0, later), Wrong);
        assert_eq!(held(&counts), 1);
        for k in 0..2 * MAX_ADDRESSES {
            counts.judge(ip(&format!("2001:db8:3:{k:x}::1")), "right", Some(1), later);
        }
        assert_eq!(counts.counts.lock().expect("a lock").accepted.len(), MAX_ADDRESSES);
    }
}
