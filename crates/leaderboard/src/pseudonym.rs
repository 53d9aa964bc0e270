//! Names for anonymous tables: a colour and an animal.
//!
//! A pseudonym is chosen at random and stored with the student, so it stays the same and reveals
//! nothing about the name. Two students never have the same pseudonym.

use chicane_store::{RandomError, random_hex};

const COLOURS: [&str; 24] = [
    "Amber", "Azure", "Black", "Blue", "Bronze", "Copper", "Coral", "Crimson", "Cyan", "Golden", "Green",
    "Indigo", "Ivory", "Jade", "Lilac", "Orange", "Pink", "Purple", "Red", "Scarlet", "Silver", "Teal",
    "Violet", "White",
];
const ANIMALS: [&str; 40] = [
    "Badger", "Bear", "Beaver", "Bison", "Camel", "Cheetah", "Crane", "Dolphin", "Eagle", "Falcon", "Ferret",
    "Fox", "Gazelle", "Gecko", "Hare", "Hawk", "Heron", "Horse", "Ibex", "Jaguar", "Koala", "Leopard",
    "Lion", "Lynx", "Marten", "Moose", "Orca", "Otter", "Owl", "Panda", "Panther", "Puffin", "Raven",
    "Salmon", "Seal", "Stork", "Swift", "Tiger", "Wolf", "Zebra",
];

/// All pseudonyms: first all pairs of colour and animal in random order, then the same pairs with
/// the number 2, and so on up to 5.
pub(crate) fn choices() -> Result<Vec<String>, RandomError> {
    let pairs = COLOURS.len() * ANIMALS.len();
    let hex = random_hex()?;
    let number = |from: usize| usize::from_str_radix(&hex[from..from + 8], 16).unwrap_or(0);
    // A step that is coprime to the number of pairs visits each pair once.
    let (start, mut step) = (number(0) % pairs, number(8) % pairs);
    while greatest_common_divisor(step, pairs) != 1 {
        step = (step + 1) % pairs;
    }
    let pair = |i: usize| {
        let at = (start + i * step) % pairs;
        format!("{} {}", COLOURS[at / ANIMALS.len()], ANIMALS[at % ANIMALS.len()])
    };
    let numbered = (0..4 * pairs).map(|i| format!("{} {}", pair(i % pairs), i / pairs + 2));
    Ok((0..pairs).map(pair).chain(numbered).collect())
}

fn greatest_common_divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn all_pseudonyms_differ_and_plain_ones_come_first() {
        let all = choices().expect("random numbers");
        let pairs = COLOURS.len() * ANIMALS.len();
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), 5 * pairs);
        assert!(all[..pairs].iter().all(|name| !name.contains(char::is_numeric)));
        assert_ne!(all[..8], choices().expect("random numbers")[..8], "the order is random");
    }
}
