//! Tests of random tracks.

use chicane_builder::{Project, RandomError, RandomTrackOptions, Severity, TrackLine, build, check, random};
use chicane_world::MemoryBundle;
use std::collections::BTreeSet;

#[test]
fn ten_seeds_give_ten_different_tracks_without_errors() {
    let mut seen = BTreeSet::new();
    for seed in 0..10 {
        let options = RandomTrackOptions { seed, ..RandomTrackOptions::default() };
        let project = random::track(&options).expect("a track");
        assert_eq!(random::track(&options), Ok(project.clone()), "twice the same");
        assert_eq!(Project::read(project.to_json().as_bytes()), Ok(project.clone()));
        let found = check(&project);
        assert!(!found.iter().any(|f| f.severity == Severity::Error), "{found:?}");
        let line = TrackLine::of(&project.track);
        let tightest = line.samples.iter().map(|s| s.curvature.abs()).fold(0.0, f64::max);
        assert!(tightest < 1.0 / 0.495, "{tightest}");
        assert!((5.0..40.0).contains(&line.length), "{}", line.length);
        // The start line is on a nearly straight section of the road.
        assert!(line.samples[..10].iter().all(|s| s.curvature.abs() < 0.6), "{seed}");
        build(&project, &MemoryBundle::default()).expect("a world");
        seen.insert(format!("{:?}", project.track.nodes));
    }
    assert_eq!(seen.len(), 10);
}

#[test]
fn tightness_and_length_have_an_effect() {
    let round = random::track(&RandomTrackOptions { tightness: 0.0, ..RandomTrackOptions::default() })
        .expect("a track");
    let bends = random::track(&RandomTrackOptions { tightness: 1.0, ..RandomTrackOptions::default() })
        .expect("a track");
    let turning =
        |p: &Project| TrackLine::of(&p.track).samples.iter().map(|s| s.curvature.abs() * 0.05).sum::<f64>();
    assert!(turning(&round) < 6.5 && turning(&bends) > 7.0, "{} {}", turning(&round), turning(&bends));
    let short = RandomTrackOptions { length: Some(8.0), tightness: 0.2, ..RandomTrackOptions::default() };
    let length = TrackLine::of(&random::track(&short).expect("a track").track).length;
    assert!((length - 8.0).abs() < 0.1, "{length}");
}

#[test]
fn all_options_give_a_track_without_errors_or_an_error() {
    let mut drawn = 0;
    for (i, field) in
        [[2.0, 2.0], [3.0, 3.0], [6.0, 4.0], [20.0, 3.0], [4.0, 12.0], [30.0, 30.0]].into_iter().enumerate()
    {
        for width in [0.2, 0.5, 1.0, 3.0] {
            for tightness in [0.0, 0.4, 1.0] {
                let options = RandomTrackOptions { seed: i as u64, field, width, tightness, length: None };
                match random::track(&options) {
                    Ok(project) => {
                        drawn += 1;
                        assert!(check(&project).iter().all(|f| f.severity != Severity::Error), "{options:?}");
                    }
                    Err(error) => assert_eq!(error, RandomError::NoRoom, "{options:?}"),
                }
                // A road of at most 0.5 m width must fit on every field of at least 3 m per side.
                if field[0].min(field[1]) >= 3.0 && width <= 0.5 {
                    assert!(random::track(&options).is_ok(), "{options:?}");
                }
            }
        }
    }
    assert!(drawn > 40, "{drawn}");
    let wide = random::track(&RandomTrackOptions { width: 9.0, ..RandomTrackOptions::default() })
        .expect_err("too wide");
    assert_eq!(wide.to_string(), "width must be from 0.2 to 3");
}
