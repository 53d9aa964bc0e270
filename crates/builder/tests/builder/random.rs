//! Random tracks.

use chicane_builder::{Line, Project, RandomError, Severity, Wish, build, check, random};
use chicane_world::MemoryBundle;
use std::collections::BTreeSet;

#[test]
fn ten_seeds_are_ten_tracks_that_can_be_driven() {
    let mut seen = BTreeSet::new();
    for seed in 0..10 {
        let wish = Wish { seed, ..Wish::default() };
        let project = random::track(&wish).expect("a track");
        assert_eq!(random::track(&wish), Ok(project.clone()), "twice the same");
        assert_eq!(Project::read(project.to_json().as_bytes()), Ok(project.clone()));
        let found = check(&project);
        assert!(!found.iter().any(|f| f.severity == Severity::Error), "{found:?}");
        let line = Line::of(&project.track);
        let tightest = line.samples.iter().map(|s| s.curvature.abs()).fold(0.0, f64::max);
        assert!(tightest < 1.0 / 0.495, "{tightest}");
        assert!((5.0..40.0).contains(&line.length), "{}", line.length);
        // It starts where it is straight.
        assert!(line.samples[..10].iter().all(|s| s.curvature.abs() < 0.6), "{seed}");
        build(&project, &MemoryBundle::default()).expect("a world");
        seen.insert(format!("{:?}", project.track.nodes));
    }
    assert_eq!(seen.len(), 10);
}

#[test]
fn wishes_are_heard() {
    let round = random::track(&Wish { tightness: 0.0, ..Wish::default() }).expect("a track");
    let bends = random::track(&Wish { tightness: 1.0, ..Wish::default() }).expect("a track");
    let turning =
        |p: &Project| Line::of(&p.track).samples.iter().map(|s| s.curvature.abs() * 0.05).sum::<f64>();
    assert!(turning(&round) < 6.5 && turning(&bends) > 7.0, "{} {}", turning(&round), turning(&bends));
    let short = Wish { length: Some(8.0), tightness: 0.2, ..Wish::default() };
    let length = Line::of(&random::track(&short).expect("a track").track).length;
    assert!((length - 8.0).abs() < 0.1, "{length}");
}

#[test]
fn every_wish_gives_a_good_track_or_says_why_not() {
    let mut drawn = 0;
    for (i, field) in
        [[2.0, 2.0], [3.0, 3.0], [6.0, 4.0], [20.0, 3.0], [4.0, 12.0], [30.0, 30.0]].into_iter().enumerate()
    {
        for width in [0.2, 0.5, 1.0, 3.0] {
            for tightness in [0.0, 0.4, 1.0] {
                let wish = Wish { seed: i as u64, field, width, tightness, length: None };
                match random::track(&wish) {
                    Ok(project) => {
                        drawn += 1;
                        assert!(check(&project).iter().all(|f| f.severity != Severity::Error), "{wish:?}");
                    }
                    Err(error) => assert_eq!(error, RandomError::NoRoom, "{wish:?}"),
                }
                // A field of a classroom has room for an ordinary road.
                if field[0].min(field[1]) >= 3.0 && width <= 0.5 {
                    assert!(random::track(&wish).is_ok(), "{wish:?}");
                }
            }
        }
    }
    assert!(drawn > 40, "{drawn}");
    let wide = random::track(&Wish { width: 9.0, ..Wish::default() }).expect_err("too wide");
    assert_eq!(wide.to_string(), "width must be from 0.2 to 3");
}
