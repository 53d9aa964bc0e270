//! Tests of the order, the limits and the throttling of messages in a mailbox.

use super::super::protocol::Compression;
use super::*;
use chicane_ros::messages::{Float64, UInt64};
use serde_json::{Value, json};

const MS: Duration = Duration::from_millis(1);

fn name(text: &str) -> TopicName {
    TopicName::parse(text).expect("a topic")
}

/// Puts a message on the topic `/sim/epoch`.
fn put(mailbox: &Mailbox, n: u64, now: Instant) {
    mailbox.put(Topic::Epoch, &EncodedMessage::new(Topic::Epoch, &UInt64 { data: n }.into(), 0), now);
}

fn json(message: &SocketMessage) -> Value {
    match message {
        SocketMessage::Text(text) => serde_json::from_str(text).expect("JSON"),
        SocketMessage::Binary(_) => panic!("a text"),
    }
}

fn subscribed(delivery: Delivery) -> Mailbox {
    let mailbox = Mailbox::default();
    assert_eq!(mailbox.subscribe(name("/sim/epoch"), None, delivery), Ok(true));
    mailbox
}

/// Takes all messages that can be sent now.
fn all(mailbox: &Mailbox, now: Instant) -> Vec<u64> {
    let one = || match mailbox.next(now) {
        NextMessage::Ready(message) => json(&message)["msg"]["data"].as_u64(),
        NextMessage::Wait(_) => None,
    };
    std::iter::from_fn(one).collect()
}

#[test]
fn a_slow_client_loses_the_oldest_messages() {
    let (mailbox, now) = (subscribed(Delivery::default()), Instant::now());
    (0..1000).for_each(|n| put(&mailbox, n, now));
    assert_eq!(all(&mailbox, now), (1000 - DEFAULT_QUEUE as u64..1000).collect::<Vec<_>>());
    let short = subscribed(Delivery { queue: 2, ..Delivery::default() });
    (0..10).for_each(|n| put(&short, n, now));
    assert_eq!(all(&short, now), [8, 9]);
}

#[test]
fn queued_bytes_are_limited() {
    let (mailbox, now) = (Mailbox::default(), Instant::now());
    let delivery = Delivery { queue: 1000, ..Delivery::default() };
    mailbox.subscribe(name("/camera/image_raw"), None, delivery).expect("subscribed");
    let out = chicane_ros::publish::image(1, [1000, 1000], vec![0; 3_000_000]);
    let large = EncodedMessage::new(out.topic, &out.message, 1);
    (0..5).for_each(|_| mailbox.put(Topic::ImageRaw, &large, now));
    assert!(matches!(mailbox.next(now), NextMessage::Ready(_)), "one message may exceed the limit");
    assert_eq!(mailbox.next(now), NextMessage::Wait(None));
}

#[test]
fn throttled_messages_without_a_queue_are_dropped() {
    let (mailbox, start) =
        (subscribed(Delivery { throttle: 100 * MS, ..Delivery::default() }), Instant::now());
    let mut got = Vec::new();
    for n in 0..100 {
        let now = start + 10 * MS * n;
        put(&mailbox, u64::from(n), now);
        got.extend(all(&mailbox, now));
    }
    assert_eq!(got, (0..10).map(|n| 10 * n).collect::<Vec<u64>>());
}

#[test]
fn throttled_messages_with_a_queue_are_delayed() {
    let (mailbox, start) =
        (subscribed(Delivery { throttle: 100 * MS, queue: 3, ..Delivery::default() }), Instant::now());
    (0..10).for_each(|n| put(&mailbox, n, start));
    assert_eq!(all(&mailbox, start), [7]);
    assert_eq!(mailbox.next(start + MS), NextMessage::Wait(Some(start + 100 * MS)));
    assert_eq!(all(&mailbox, start + 100 * MS), [8]);
    assert_eq!(all(&mailbox, start + 250 * MS), [9]);
    assert_eq!(mailbox.next(start + 900 * MS), NextMessage::Wait(None));
}

#[test]
fn messages_of_several_topics_keep_their_order() {
    let (mailbox, now) = (Mailbox::default(), Instant::now());
    for topic in ["/sim/epoch", "speed", "/speed"] {
        mailbox.subscribe(name(topic), None, Delivery::default()).expect("subscribed");
    }
    let put_speed = |data| {
        let message = Float64 { data }.into();
        mailbox.put(Topic::Speed, &EncodedMessage::new(Topic::Speed, &message, 0), now);
    };
    put_speed(1.0);
    put(&mailbox, 2, now);
    put_speed(3.0);
    let mut sent = Vec::new();
    while let NextMessage::Ready(message) = mailbox.next(now) {
        let value = json(&message);
        sent.push((value["topic"].as_str().expect("a name").to_owned(), value["msg"]["data"].as_f64()));
    }
    let want = [("/speed", 1.0), ("speed", 1.0), ("/sim/epoch", 2.0), ("/speed", 3.0), ("speed", 3.0)];
    assert_eq!(sent.len(), want.len());
    for one in want {
        assert!(sent.contains(&(one.0.to_owned(), Some(one.1))), "{one:?}");
    }
    let values: Vec<_> = sent.iter().filter_map(|(_, v)| *v).collect();
    assert!(values.is_sorted(), "{values:?}");
}

#[test]
fn subscriptions_of_a_topic_share_the_shortest_throttle() {
    let (mailbox, now) = (Mailbox::default(), Instant::now());
    let (first, second) = (Some(json!("a")), Some(json!("b")));
    let slow = Delivery { throttle: 1000 * MS, queue: 5, ..Delivery::default() };
    assert_eq!(mailbox.subscribe(name("/sim/epoch"), first.clone(), slow), Ok(true));
    assert_eq!(mailbox.subscribe(name("/sim/epoch"), second.clone(), Delivery::default()), Ok(false));
    (0..3).for_each(|n| put(&mailbox, n, now));
    assert_eq!(all(&mailbox, now), [0, 1, 2]);
    assert_eq!(mailbox.unsubscribe(name("/sim/epoch"), second.as_ref()), Ok(false));
    (0..3).for_each(|n| put(&mailbox, n, now));
    assert_eq!(all(&mailbox, now), [0]);
    assert!(mailbox.unsubscribe(name("/sim/epoch"), second.as_ref()).is_err());
    assert_eq!(mailbox.unsubscribe(name("/sim/epoch"), first.as_ref()), Ok(true));
    assert!(mailbox.unsubscribe(name("/sim/epoch"), None).is_err());
    assert!(mailbox.topics().is_empty());
}

#[test]
fn the_number_of_subscriptions_is_limited() {
    let mailbox = Mailbox::default();
    for n in 0..MAX_IDS {
        let subscribed = mailbox.subscribe(name("/scan"), Some(json!(n)), Delivery::default());
        assert_eq!(subscribed, Ok(n == 0));
    }
    let status = mailbox.subscribe(name("/imu"), None, Delivery::default()).expect_err("too many");
    assert!(status.text.contains("256"), "{}", status.text);
    assert_eq!(mailbox.subscribe(name("/scan"), Some(json!(0)), Delivery::default()), Ok(false));
    assert_eq!(
        mailbox.unsubscribe(name("/scan"), None),
        Ok(true),
        "without an id, all subscriptions of the topic end"
    );
    assert_eq!(mailbox.subscribe(name("/imu"), None, Delivery::default()), Ok(true));
}

#[test]
fn a_new_subscription_gets_the_latched_message_once() {
    let (mailbox, now) = (subscribed(Delivery { throttle: 100 * MS, ..Delivery::default() }), Instant::now());
    let latched = |topic, put: &mut dyn FnMut(&EncodedMessage<'_>)| {
        if topic == Topic::Epoch {
            put(&EncodedMessage::new(topic, &UInt64 { data: 7 }.into(), 0));
        }
    };
    mailbox.put_latched(latched);
    mailbox.put_latched(latched);
    assert_eq!(all(&mailbox, now), [7]);
    mailbox.subscribe(name("/sim/epoch"), Some(json!("another")), Delivery::default()).expect("subscribed");
    mailbox.put_latched(latched);
    assert_eq!(all(&mailbox, now), [7]);
}

#[test]
fn a_new_subscriber_got_a_message_twice() {
    let (mailbox, now) = (subscribed(Delivery::default()), Instant::now());
    let message = UInt64 { data: 7 }.into();
    let epoch = EncodedMessage::new(Topic::Epoch, &message, 0);
    mailbox.put(Topic::Epoch, &epoch, now);
    mailbox.put_latched(|_, put| put(&epoch));
    assert_eq!(all(&mailbox, now), [7]);
}

#[test]
fn each_subscription_gets_its_own_form() {
    let (mailbox, now) = (Mailbox::default(), Instant::now());
    let with = |compression| Delivery { compression, ..Delivery::default() };
    mailbox.subscribe(name("/sim/epoch"), None, with(Compression::Cbor)).expect("subscribed");
    mailbox.subscribe(name("sim/epoch"), None, with(Compression::None)).expect("subscribed");
    put(&mailbox, 1, now);
    // The order of two subscriptions to one topic is not defined.
    let next = || match mailbox.next(now) {
        NextMessage::Ready(SocketMessage::Binary(bytes)) => Some(bytes),
        NextMessage::Ready(SocketMessage::Text(_)) => None,
        other => panic!("{other:?}"),
    };
    let both = [next(), next()];
    assert_eq!(both.iter().flatten().count(), 1, "{both:?}");
    mailbox
        .subscribe(name("/sim/epoch"), Some(json!("raw")), with(Compression::CborRaw))
        .expect("subscribed");
    put(&mailbox, 2, now);
    let both = [next(), next()];
    let bytes = both.iter().flatten().next().expect("bytes");
    assert!(bytes.windows(5).any(|part| part == b"nsecs"), "the last form is used");
}
