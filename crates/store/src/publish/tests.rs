use super::*;
use crate::manifest::{Access, Manifest};
use crate::package::tests::packed;
use crate::temp_folder::TempFolder;
use object_store::memory::InMemory;
use std::future::Future;

fn run<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(work)
}

#[test]
fn a_world_is_published_and_described() {
    run(async {
        let scratch = TempFolder::new();
        let stores = [
            Cdn::folder(&scratch.path().join("new/cdn")).expect("a folder"),
            Cdn::store(Arc::new(InMemory::new())),
        ];
        for cdn in stores {
            let package = packed("oval");
            let mut parts = Vec::new();
            cdn.publish(&package, |part| parts.push(part)).await.expect("published");
            assert!(parts.is_sorted() && parts.last() == Some(&1.0), "{parts:?}");
            assert_eq!(cdn.worlds().await, Ok(vec![(package.id.clone(), package.meta.clone())]));
            let rev = package.meta.rev.as_str();
            let read = async |path: &str| {
                let path = ObjectPath::from(format!("worlds/{}/{rev}/{path}", package.id));
                cdn.store.get(&path).await.expect("there").bytes().await.expect("read")
            };
            let manifest = Manifest::read(&package.id, &package.meta.rev, &read("manifest.json").await);
            assert_eq!(manifest, Ok(package.manifest.clone()));
            for (path, bytes) in &package.files {
                assert_eq!(read(path.as_str()).await, *bytes, "{path}");
            }
            let changed = cdn.change(&package.id, |m| m.access = Access::Private).await.expect("changed");
            assert_eq!((changed.access, changed.seq), (Access::Private, 2));
            let changed = cdn.change(&package.id, |m| m.name = "Other".to_owned()).await.expect("changed");
            assert_eq!((changed.access, changed.seq), (Access::Private, 3));
            assert_eq!(cdn.worlds().await, Ok(vec![(package.id.clone(), changed)]));
            // A published file is never overwritten.
            let again = cdn.publish(&package, |_| ()).await;
            assert!(matches!(again, Err(PublishError::Write { .. })), "{again:?}");
            let unknown = WorldId::parse(&"a".repeat(32)).expect("an id");
            assert_eq!(cdn.change(&unknown, |_| ()).await, Err(PublishError::NotPublished(unknown)));
        }
    });
}

#[test]
fn only_leftovers_are_removed() {
    run(async {
        let scratch = TempFolder::new();
        let cdn = Cdn::folder(scratch.path()).expect("a folder");
        let first = packed("oval");
        cdn.publish(&first, |_| ()).await.expect("published");
        let worlds = scratch.path().join("worlds");
        let torn = worlds.join("a".repeat(32));
        std::fs::create_dir_all(torn.join("abcd1234/worlds")).expect("made");
        let draft = worlds.join(first.id.as_str()).join("meta.json#1");
        std::fs::write(&draft, "{").expect("made");
        let foreign = worlds.join("notes");
        std::fs::create_dir(&foreign).expect("made");
        let second = packed("field");
        cdn.publish(&second, |_| ()).await.expect("published");
        assert!(!torn.exists() && !draft.exists() && foreign.exists());
        let ids: Vec<_> = cdn.worlds().await.expect("listed").into_iter().map(|(id, _)| id).collect();
        assert_eq!(ids, [second.id, first.id], "by name: The field, The oval");
    });
}

#[test]
fn publishers_can_share_a_folder() {
    let scratch = TempFolder::new();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let cdn = Cdn::folder(scratch.path()).expect("a folder");
                run(cdn.publish(&packed("field"), |_| ())).expect("published");
            });
        }
    });
    let cdn = Cdn::folder(scratch.path()).expect("a folder");
    assert_eq!(run(cdn.worlds()).expect("listed").len(), 4);
}

#[test]
fn simultaneous_changes_are_all_made() {
    use object_store::throttle::{ThrottleConfig, ThrottledStore};
    use std::time::Duration;
    run(async {
        let delay = Duration::from_millis(2);
        let slow = ThrottleConfig {
            wait_get_per_call: delay,
            wait_put_per_call: delay,
            ..ThrottleConfig::default()
        };
        let cdn = Cdn::store(Arc::new(ThrottledStore::new(InMemory::new(), slow)));
        let package = packed("oval");
        cdn.publish(&package, |_| ()).await.expect("published");
        // There are `MAX_ATTEMPTS` changes, and each is tried up to `MAX_ATTEMPTS` times. In every
        // round one change succeeds, so all changes succeed in the end.
        let rename = |k: usize| {
            let (cdn, id) = (&cdn, &package.id);
            async move { cdn.change(id, |meta| meta.name += &format!(" {k}")).await }
        };
        let done = futures_util::future::join_all((0..MAX_ATTEMPTS).map(rename)).await;
        assert!(done.iter().all(Result::is_ok), "{done:?}");
        let (meta, _) = cdn.read(&package.id).await.expect("there");
        assert_eq!(meta.seq, 1 + MAX_ATTEMPTS as u64);
        for k in 0..MAX_ATTEMPTS {
            assert!(meta.name.contains(&format!(" {k}")), "{}", meta.name);
        }
    });
}

#[test]
fn a_repeated_write_of_the_same_bytes_succeeds() {
    run(async {
        let cdn = Cdn::store(Arc::new(InMemory::new()));
        let package = packed("oval");
        cdn.publish(&package, |_| ()).await.expect("published");
        // The same bytes are published again, as if the store's client repeated every write.
        cdn.publish(&package, |_| ()).await.expect("published");
        let mut other = package.clone();
        other.files[0].1.push(b' ');
        let refused = cdn.publish(&other, |_| ()).await;
        assert!(matches!(refused, Err(PublishError::Write { .. })), "{refused:?}");
    });
}
