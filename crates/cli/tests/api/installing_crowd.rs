//! Concurrent installations: eight clients install the same worlds in two simulators.

use crate::support::{setup, start, until};
use chicane_store::{Access, Cdn};
use chicane_testkit::Random;
use chicane_testkit::cdn::{packed, publish};
use chicane_testkit::http::Client;
use serde_json::json;

/// Number of requests that each client sends.
const ROUNDS: u64 = 30;

#[test]
fn eight_clients_of_two_simulators_install_the_same_worlds() {
    let teacher = start();
    let cdn = teacher.folder().join("cdn");
    let packages = ["oval", "field", "speedway"].map(|name| packed(name, Access::Public));
    packages.iter().for_each(|package| publish(package, &cdn));
    let student = setup().cdn(format!("http://{}/cdn", teacher.address)).start();
    let ids: Vec<String> = packages.iter().map(|p| p.id.to_string()).collect();
    std::thread::scope(|scope| {
        for k in 0..8 {
            let address = if k % 2 == 0 { teacher.address } else { student.address };
            let ids = &ids;
            scope.spawn(move || {
                let mut random = Random(0x9E37_79B9_7F4A_7C15 ^ (k + 1) << 20);
                let mut client = Client::new(address);
                for round in 0..ROUNDS {
                    random_request(&mut client, &mut random, ids, &format!("client {k}, round {round}"));
                }
            });
        }
        // The publisher renames the worlds while the clients install them.
        let (cdn, packages) = (&cdn, &packages);
        scope.spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
            let cdn = Cdn::folder(cdn).expect("a folder");
            for i in 0..20 {
                let id = &packages[i % 3].id;
                runtime.block_on(cdn.change(id, |meta| meta.name = format!("Name {i}"))).expect("changed");
            }
        });
    });
    // Afterwards all worlds are installed and intact.
    for simulator in [&teacher, &student] {
        let mut api = simulator.api();
        for id in &ids {
            assert_eq!(api.post("/worlds/install", json!({"world_id": id}))["verified"], true);
            api.post("/switch", json!({"world_id": id}));
            assert_eq!(api.get("/status")["current"], format!("custom_{id}"));
        }
        let listed = api.get("/worlds");
        let installed =
            listed["worlds"].as_array().expect("worlds").iter().filter(|w| w["deletable"] == true);
        assert_eq!(installed.count(), 3);
        until("the end of all installations", || api.get("/state")["transition"].is_null().then_some(()));
        let staged = std::fs::read_dir(simulator.folder().join("staging")).expect("a folder");
        assert_eq!(staged.count(), 0, "staged files are left");
    }
}

fn random_request(client: &mut Client, random: &mut Random, ids: &[String], who: &str) {
    let id = &ids[random.below(3) as usize];
    let (what, answer, allowed) = match random.below(8) {
        0..3 => {
            let answer = client.post("/sim/api/worlds/install", &json!({"world_id": id}).to_string());
            ("install", answer, &[200][..])
        }
        3..5 => {
            let answer = client.post("/sim/api/switch", &json!({"world_id": id}).to_string());
            ("switch", answer, &[200, 404, 409][..])
        }
        5 => {
            let answer = client.post("/sim/api/switch", &json!({"world": "oval.world"}).to_string());
            ("back", answer, &[200, 409][..])
        }
        6 => ("delete", client.delete(&format!("/sim/api/worlds/custom_{id}")), &[200, 404, 409][..]),
        _ => ("list", client.get("/sim/api/worlds"), &[200][..]),
    };
    assert!(allowed.contains(&answer.status), "{who}: {what} {id}: {} {}", answer.status, answer.text());
}
