//! Who gets what, when, and what is lost.

use super::*;
use chicane_ros::messages::{Float64, UInt64};
use serde_json::{Value, json};

const MS: Duration = Duration::from_millis(1);

fn name(text: &str) -> Name {
    Name::read(text).expect("a topic")
}

fn frame(n: u64) -> Arc<Frame> {
    Arc::new(Frame::new(Topic::Epoch, &UInt64 { data: n }.into()))
}

fn subscribed(wish: Wish) -> Mailbox {
    let mailbox = Mailbox::default();
    assert_eq!(mailbox.subscribe(name("/sim/epoch"), None, wish), Ok(true));
    mailbox
}

/// Everything that can be had now.
fn all(mailbox: &Mailbox, now: Instant) -> Vec<u64> {
    let one = || match mailbox.next(now) {
        Next::Text(text) => {
            let said: Value = serde_json::from_str(&text).expect("JSON");
            said["msg"]["data"].as_u64()
        }
        Next::Later(_) => None,
    };
    std::iter::from_fn(one).collect()
}

#[test]
fn a_slow_reader_loses_what_is_old() {
    let (mailbox, now) = (subscribed(Wish::default()), Instant::now());
    (0..1000).for_each(|n| mailbox.put(Topic::Epoch, &frame(n), now));
    assert_eq!(all(&mailbox, now), (1000 - WAITING as u64..1000).collect::<Vec<_>>());
    let short = subscribed(Wish { queue: 2, ..Wish::default() });
    (0..10).for_each(|n| short.put(Topic::Epoch, &frame(n), now));
    assert_eq!(all(&short, now), [8, 9]);
}

#[test]
fn large_messages_do_not_pile_up() {
    let (mailbox, now) = (Mailbox::default(), Instant::now());
    let wish = Wish { queue: 1000, ..Wish::default() };
    mailbox.subscribe(name("/camera/image_raw"), None, wish).expect("subscribed");
    let out = chicane_ros::publish::image(1, [1000, 1000], vec![0; 3_000_000]);
    let large = Arc::new(Frame::new(out.topic, &out.message));
    (0..5).for_each(|_| mailbox.put(Topic::ImageRaw, &large, now));
    assert!(matches!(mailbox.next(now), Next::Text(_)), "one is always there");
    assert_eq!(mailbox.next(now), Next::Later(None));
}

#[test]
fn throttled_without_a_queue_what_comes_too_soon_is_gone() {
    let (mailbox, start) = (subscribed(Wish { throttle: 100 * MS, queue: 0 }), Instant::now());
    let mut got = Vec::new();
    for n in 0..100 {
        let now = start + 10 * MS * n;
        mailbox.put(Topic::Epoch, &frame(u64::from(n)), now);
        got.extend(all(&mailbox, now));
    }
    assert_eq!(got, (0..10).map(|n| 10 * n).collect::<Vec<u64>>());
}

#[test]
fn throttled_with_a_queue_the_newest_wait_their_turn() {
    let (mailbox, start) = (subscribed(Wish { throttle: 100 * MS, queue: 3 }), Instant::now());
    (0..10).for_each(|n| mailbox.put(Topic::Epoch, &frame(n), start));
    assert_eq!(all(&mailbox, start), [7]);
    assert_eq!(mailbox.next(start + MS), Next::Later(Some(start + 100 * MS)));
    assert_eq!(all(&mailbox, start + 100 * MS), [8]);
    assert_eq!(all(&mailbox, start + 250 * MS), [9]);
    assert_eq!(mailbox.next(start + 900 * MS), Next::Later(None));
}

#[test]
fn topics_come_in_the_order_they_were_said() {
    let (mailbox, now) = (Mailbox::default(), Instant::now());
    for topic in ["/sim/epoch", "speed", "/speed"] {
        mailbox.subscribe(name(topic), None, Wish::default()).expect("subscribed");
    }
    let number = |data| Arc::new(Frame::new(Topic::Speed, &Float64 { data }.into()));
    mailbox.put(Topic::Speed, &number(1.0), now);
    mailbox.put(Topic::Epoch, &frame(2), now);
    mailbox.put(Topic::Speed, &number(3.0), now);
    let mut said = Vec::new();
    while let Next::Text(text) = mailbox.next(now) {
        let value: Value = serde_json::from_str(&text).expect("JSON");
        said.push((value["topic"].as_str().expect("a name").to_owned(), value["msg"]["data"].as_f64()));
    }
    let wanted = [("/speed", 1.0), ("speed", 1.0), ("/sim/epoch", 2.0), ("/speed", 3.0), ("speed", 3.0)];
    assert_eq!(said.len(), wanted.len());
    for one in wanted {
        assert!(said.contains(&(one.0.to_owned(), Some(one.1))), "{one:?}");
    }
    let values: Vec<_> = said.iter().filter_map(|(_, v)| *v).collect();
    assert!(values.is_sorted(), "{values:?}");
}

#[test]
fn those_who_share_a_topic_get_the_most_that_one_of_them_wants() {
    let (mailbox, now) = (Mailbox::default(), Instant::now());
    let (first, second) = (Some(json!("a")), Some(json!("b")));
    let slow = Wish { throttle: 1000 * MS, queue: 5 };
    assert_eq!(mailbox.subscribe(name("/sim/epoch"), first.clone(), slow), Ok(true));
    assert_eq!(mailbox.subscribe(name("/sim/epoch"), second.clone(), Wish::default()), Ok(false));
    (0..3).for_each(|n| mailbox.put(Topic::Epoch, &frame(n), now));
    assert_eq!(all(&mailbox, now), [0, 1, 2]);
    assert_eq!(mailbox.unsubscribe(name("/sim/epoch"), second.as_ref()), Ok(false));
    (0..3).for_each(|n| mailbox.put(Topic::Epoch, &frame(n), now));
    assert_eq!(all(&mailbox, now), [0]);
    assert!(mailbox.unsubscribe(name("/sim/epoch"), second.as_ref()).is_err());
    assert_eq!(mailbox.unsubscribe(name("/sim/epoch"), first.as_ref()), Ok(true));
    assert!(mailbox.unsubscribe(name("/sim/epoch"), None).is_err());
    assert!(mailbox.topics().is_empty());
}

#[test]
fn there_are_so_many_subscriptions_and_no_more() {
    let mailbox = Mailbox::default();
    for n in 0..MAX_IDS {
        let subscribed = mailbox.subscribe(name("/scan"), Some(json!(n)), Wish::default());
        assert_eq!(subscribed, Ok(n == 0));
    }
    let trouble = mailbox.subscribe(name("/imu"), None, Wish::default()).expect_err("too many");
    assert!(trouble.text.contains("256"), "{}", trouble.text);
    assert_eq!(mailbox.subscribe(name("/scan"), Some(json!(0)), Wish::default()), Ok(false));
    assert_eq!(mailbox.unsubscribe(name("/scan"), None), Ok(true), "all at once");
    assert_eq!(mailbox.subscribe(name("/imu"), None, Wish::default()), Ok(true));
}

#[test]
fn whoever_comes_gets_what_stays_true_once() {
    let (mailbox, now) = (subscribed(Wish { throttle: 100 * MS, queue: 0 }), Instant::now());
    let kept = |topic| (topic == Topic::Epoch).then(|| frame(7));
    mailbox.welcome(kept);
    mailbox.welcome(kept);
    assert_eq!(all(&mailbox, now), [7]);
    mailbox.subscribe(name("/sim/epoch"), Some(json!("another")), Wish::default()).expect("subscribed");
    mailbox.welcome(kept);
    assert_eq!(all(&mailbox, now), [7]);
}
