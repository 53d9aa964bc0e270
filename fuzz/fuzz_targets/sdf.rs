//! Reads any bytes as an SDF world and as a model. The result is an error that names the file, or a
//! spec that can be written and read again without a change. Loading the spec as a world may fail,
//! but not panic.
#![no_main]

use chicane_world::{Assets, MemoryBundle, Warnings, World, sdf};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

/// Shared files that a fuzzed world may include: a model and its mesh.
static PARTS: LazyLock<MemoryBundle> = LazyLock::new(|| {
    let mut parts = MemoryBundle::default();
    parts.insert("models/part/model.config", sdf::write_config("part", "model.sdf", "1.7"));
    parts.insert("models/part/model.sdf", include_bytes!("../seeds/sdf/model.sdf"));
    parts.insert("meshes/part/part.dae", include_bytes!("../seeds/collada/triangle.dae"));
    parts
});

fuzz_target!(|bytes: &[u8]| {
    let mut warnings = Warnings::default();
    match sdf::read("worlds/fuzz.world", bytes, &mut warnings) {
        Ok(spec) => {
            let written = sdf::write(&spec);
            let again = sdf::read("worlds/fuzz.world", written.as_bytes(), &mut Warnings::default());
            assert_eq!(again.expect("a written world can be read"), spec);
            let mut bundle = MemoryBundle::default();
            bundle.insert("worlds/fuzz.world", bytes);
            let _ = World::load(&Assets::of(&bundle));
            let _ = World::load(&Assets::with_shared(&bundle, &*PARTS));
        }
        Err(e) => assert_eq!(e.location.file, "worlds/fuzz.world"),
    }
    if let Ok(model) = sdf::read_model("models/fuzz/model.sdf", bytes, &mut Warnings::default()) {
        let written = sdf::write_model(&model, "1.7");
        let again = sdf::read_model("models/fuzz/model.sdf", written.as_bytes(), &mut Warnings::default());
        assert_eq!(again.expect("a written model can be read"), model);
    }
    let _ = warnings.into_vec();
});
