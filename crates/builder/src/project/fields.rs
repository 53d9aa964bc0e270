//! The names of all fields of the document, by the part that they stand in.
//!
//! The reader refuses every other name; the schema in `docs/project.schema.json` has the same
//! parts with the same names, and a test holds the two against each other.

/// A part of the document and its fields.
pub(super) type Part = (&'static str, &'static [&'static str]);

pub(super) const PROJECT: Part = (
    "project",
    &["version", "name", "display_name", "field", "fence", "track", "decals", "objects", "evaluation"],
);
pub(super) const FIELD: Part = ("field", &["size", "ground"]);
pub(super) const GROUND: Part = ("ground", &["picture"]);
pub(super) const FENCE: Part = ("fence", &["height", "colour"]);
pub(super) const TRACK: Part =
    ("track", &["closed", "width", "nodes", "direction", "start", "outer_line", "centre_line", "start_line"]);
pub(super) const NODE: Part = ("node", &["x", "y", "width"]);
pub(super) const OUTER_LINE: Part = ("outer_line", &["width", "colour"]);
pub(super) const CENTRE_LINE: Part = ("centre_line", &["width", "dash", "gap", "colour"]);
pub(super) const DECAL: Part = ("decal", &["picture", "x", "y", "yaw", "width", "height"]);
pub(super) const BOX: Part =
    ("box", &["kind", "name", "x", "y", "yaw", "size", "mass", "static", "colour", "textures"]);
pub(super) const CYLINDER: Part = (
    "cylinder",
    &["kind", "name", "x", "y", "yaw", "radius", "height", "mass", "static", "colour", "textures"],
);
pub(super) const SPHERE: Part =
    ("sphere", &["kind", "name", "x", "y", "yaw", "radius", "mass", "static", "colour", "textures"]);
pub(super) const CONE: Part =
    ("cone", &["kind", "name", "x", "y", "yaw", "base", "height", "mass", "static", "colour", "textures"]);
pub(super) const LIGHT: Part = ("light", &["kind", "name", "x", "y", "yaw", "width", "tilt"]);
pub(super) const BOX_TEXTURES: Part = ("box_textures", &["front", "back", "left", "right", "top", "bottom"]);
pub(super) const CYLINDER_TEXTURES: Part = ("cylinder_textures", &["side", "top", "bottom"]);
pub(super) const SPHERE_TEXTURES: Part = ("sphere_textures", &["surface"]);
pub(super) const CONE_TEXTURES: Part = ("cone_textures", &["side"]);
pub(super) const EVALUATION: Part = ("evaluation", &["config", "script"]);
pub(super) const CONFIG: Part = ("config", &["description", "better", "time_limit_s", "robot"]);
pub(super) const TEMPLATE: Part = ("template", &["template"]);

/// Every part of the document with its fields.
pub const FIELDS: [Part; 21] = [
    PROJECT,
    FIELD,
    GROUND,
    FENCE,
    TRACK,
    NODE,
    OUTER_LINE,
    CENTRE_LINE,
    DECAL,
    BOX,
    CYLINDER,
    SPHERE,
    CONE,
    LIGHT,
    BOX_TEXTURES,
    CYLINDER_TEXTURES,
    SPHERE_TEXTURES,
    CONE_TEXTURES,
    EVALUATION,
    CONFIG,
    TEMPLATE,
];
