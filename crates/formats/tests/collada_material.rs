//! Tests the materials of mesh files: shaders, transparency, and the ways to refer to a picture.

use chicane_formats::Warnings;
use chicane_formats::collada::{self, Material};

/// Returns the material and the warnings of a file with the given effect profile and images.
fn material(profile: &str, images: &str) -> (Material, Vec<String>) {
    let text = format!(
        r##"<COLLADA><library_images>{images}</library_images>
        <library_effects><effect id="e"><profile_COMMON>{profile}</profile_COMMON></effect></library_effects>
        <library_materials><material id="m"><instance_effect url="#e"/></material></library_materials></COLLADA>"##
    );
    let mut warnings = Warnings::default();
    let model = collada::read("m.dae", text.as_bytes(), &mut warnings).expect("mesh");
    let warnings = warnings.into_vec().into_iter().map(|w| w.message);
    (model.materials[0].clone(), warnings.filter(|w| w != "the mesh has no triangles").collect())
}

fn shader(kind: &str, inside: &str) -> Material {
    let (material, warnings) = material(&format!("<technique><{kind}>{inside}</{kind}></technique>"), "");
    assert_eq!(warnings, [""; 0]);
    material
}

#[test]
fn shaders_give_colour_and_emission() {
    for kind in ["phong", "lambert", "blinn"] {
        let m = shader(
            kind,
            "<emission><color>0.1 0.2 0.3 1</color></emission><diffuse><color>0.4 0.5 0.6</color></diffuse>",
        );
        assert_eq!((m.colour, m.emissive), ([0.4, 0.5, 0.6, 1.0], [0.1, 0.2, 0.3]), "{kind}");
    }
    let m = shader("constant", "<emission><color>0.1 0.2 0.3 1</color></emission>");
    assert_eq!((m.colour, m.emissive), ([0.0, 0.0, 0.0, 1.0], [0.1, 0.2, 0.3]));
    assert_eq!(shader("lambert", "").colour, [0.7, 0.7, 0.7, 1.0]);
    assert_eq!(
        shader("lambert", "<diffuse><color>9 -1 0.5 1</color></diffuse>").colour,
        [1.0, 0.0, 0.5, 1.0]
    );
    let (m, warnings) = material("<technique><shiny/></technique>", "");
    assert_eq!((m.colour, warnings.len()), ([0.7, 0.7, 0.7, 1.0], 1));
}

#[test]
fn transparency_gives_alpha() {
    let alpha = |inside: &str| shader("phong", inside).colour[3];
    let both = |opaque: &str, colour: &str, factor: &str| {
        alpha(&format!(
            "<transparent{opaque}><color>{colour}</color></transparent><transparency><float>{factor}</float></transparency>"
        ))
    };
    assert_eq!(both("", "1 1 1 0.5", "1"), 0.5);
    assert_eq!(both(" opaque=\"A_ONE\"", "1 1 1 1", "0.25"), 0.25);
    assert_eq!(both(" opaque=\"A_ZERO\"", "0 0 0 0.25", "1"), 0.75);
    assert!((both(" opaque=\"RGB_ZERO\"", "1 1 1 1", "0.25") - 0.75).abs() < 1e-6);
    assert!((both(" opaque=\"RGB_ONE\"", "1 1 1 1", "0.25") - 0.25).abs() < 1e-6);
    // Old exporters write the next two combinations for opaque surfaces.
    assert_eq!(both("", "1 1 1 1", "0"), 1.0);
    assert_eq!(both(" opaque=\"RGB_ZERO\"", "0 0 0 1", "1"), 1.0);
    assert_eq!(alpha("<transparency><float>1</float></transparency>"), 1.0);
    assert_eq!(alpha("<transparency><float>0.5</float></transparency>"), 0.5);
    // The alpha of the diffuse colour is ignored.
    assert_eq!(alpha("<diffuse><color>1 1 1 0.5</color></diffuse>"), 1.0);
}

const BY_SAMPLER: &str = r#"<technique><lambert><diffuse><texture texture="sampler" texcoord="UV"/></diffuse></lambert></technique>"#;

#[test]
fn a_texture_refers_to_a_picture_by_sampler_surface_and_image() {
    let params = r#"<newparam sid="surface"><surface type="2D"><init_from>img</init_from></surface></newparam>
        <newparam sid="sampler"><sampler2D><source>surface</source></sampler2D></newparam>"#;
    let image = r#"<image id="img"><init_from>textures/a%20b.png</init_from></image>"#;
    let (m, warnings) = material(&format!("{params}{BY_SAMPLER}"), image);
    assert_eq!((m.texture.as_deref(), m.colour, warnings.len()), (Some("textures/a b.png"), [1.0; 4], 0));
    let (m, _) = material(&format!("{image}{params}{BY_SAMPLER}"), "");
    assert_eq!(m.texture.as_deref(), Some("textures/a b.png"), "image inside the effect");
}

#[test]
fn a_texture_refers_to_a_picture_as_in_collada_1_5() {
    let params =
        r##"<newparam sid="sampler"><sampler2D><instance_image url="#img"/></sampler2D></newparam>"##;
    let image = r#"<image id="img"><init_from><ref>a.png</ref></init_from></image>"#;
    assert_eq!(material(&format!("{params}{BY_SAMPLER}"), image).0.texture.as_deref(), Some("a.png"));
}

#[test]
fn a_texture_refers_to_a_picture_directly() {
    let image = r#"<image id="sampler"><init_from>a.png</init_from></image>"#;
    assert_eq!(material(BY_SAMPLER, image).0.texture.as_deref(), Some("a.png"));
    let params = r#"<newparam sid="sampler"><sampler2D><source>img</source></sampler2D></newparam>"#;
    let image = image.replace("\"sampler\"", "\"img\"");
    assert_eq!(material(&format!("{params}{BY_SAMPLER}"), &image).0.texture.as_deref(), Some("a.png"));
}

#[test]
fn a_missing_picture_is_a_warning() {
    for (params, image) in [
        ("", ""),
        (r#"<newparam sid="sampler"><sampler2D><source>sampler</source></sampler2D></newparam>"#, ""),
        ("", r#"<image id="sampler"/>"#),
        ("", r#"<image id="sampler"><init_from>  </init_from></image>"#),
    ] {
        let (m, warnings) = material(&format!("{params}{BY_SAMPLER}"), image);
        assert_eq!((m.texture, m.colour), (None, [1.0; 4]));
        assert_eq!(warnings, ["no picture for texture 'sampler'"]);
    }
}

#[test]
fn picture_uris_become_relative_paths() {
    let cases = [
        ("a.png", Some("a.png")),
        ("  ../textures/a.png\n", Some("../textures/a.png")),
        ("file://a.png", Some("a.png")),
        ("file:./t/a.png", Some("t/a.png")),
        ("file:///home/someone/a.png", Some("a.png")),
        ("/home/someone/a.png", Some("a.png")),
        ("file:///C:/art/a.png", Some("a.png")),
        ("C:\\art\\a.png", Some("a.png")),
        ("t\\a.png", Some("t/a.png")),
        ("%C3%A4%2e.png", Some("ä..png")),
        ("100%.png", Some("100%.png")),
        ("%zz%4", Some("%zz%4")),
        ("%ff.png", Some("%ff.png")),
        ("file://", None),
        ("/", None),
    ];
    for (uri, path) in cases {
        let image = format!("<image id=\"sampler\"><init_from>{uri}</init_from></image>");
        assert_eq!(material(BY_SAMPLER, &image).0.texture.as_deref(), path, "{uri}");
    }
}
