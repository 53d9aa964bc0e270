//! The names of all fields of the document, grouped by the object that contains them.
//!
//! The reader refuses a document with any other field name. The schema in
//! `docs/project.schema.json` has the same groups with the same names. A test compares the schema
//! with this file.

/// A kind of object in the document, and the names of its fields.
pub(super) type FieldGroup = (&'static str, &'static [&'static str]);

pub(super) const PROJECT: FieldGroup = (
    "project",
    &["version", "name", "display_name", "field", "fence", "track", "decals", "objects", "evaluation"],
);
pub(super) const FIELD: FieldGroup = ("field", &["size", "ground"]);
pub(super) const GROUND: FieldGroup = ("ground", &["picture"]);
pub(super) const FENCE: FieldGroup = ("fence", &["height", "colour"]);
pub(super) const TRACK: FieldGroup =
    ("track", &["closed", "width", "nodes", "direction", "start", "outer_line", "centre_line", "start_line"]);
pub(super) const NODE: FieldGroup = ("node", &["x", "y", "width"]);
pub(super) const OUTER_LINE: FieldGroup = ("outer_line", &["width", "colour"]);
pub(super) const CENTRE_LINE: FieldGroup = ("centre_line", &["width", "dash", "gap", "colour"]);
pub(super) const DECAL: FieldGroup = ("decal", &["picture", "x", "y", "yaw", "width", "height"]);
pub(super) const BOX: FieldGroup =
    ("box", &["kind", "name", "x", "y", "yaw", "group", "size", "mass", "static", "colour", "textures"]);
pub(super) const CYLINDER: FieldGroup = (
    "cylinder",
    &["kind", "name", "x", "y", "yaw", "group", "radius", "height", "mass", "static", "colour", "textures"],
);
pub(super) const SPHERE: FieldGroup =
    ("sphere", &["kind", "name", "x", "y", "yaw", "group", "radius", "mass", "static", "colour", "textures"]);
pub(super) const CONE: FieldGroup = (
    "cone",
    &["kind", "name", "x", "y", "yaw", "group", "base", "height", "mass", "static", "colour", "textures"],
);
pub(super) const LIGHT: FieldGroup = ("light", &["kind", "name", "x", "y", "yaw", "group", "width", "tilt"]);
pub(super) const BOX_TEXTURES: FieldGroup =
    ("box_textures", &["front", "back", "left", "right", "top", "bottom"]);
pub(super) const CYLINDER_TEXTURES: FieldGroup = ("cylinder_textures", &["side", "top", "bottom"]);
pub(super) const SPHERE_TEXTURES: FieldGroup = ("sphere_textures", &["surface"]);
pub(super) const CONE_TEXTURES: FieldGroup = ("cone_textures", &["side"]);
pub(super) const EVALUATION: FieldGroup = ("evaluation", &["config", "script"]);
pub(super) const CONFIG: FieldGroup =
    ("config", &["description", "better", "time_limit_s", "robot", "allow", "vary"]);
pub(super) const TEMPLATE: FieldGroup = ("template", &["template"]);

/// All groups of fields.
pub const FIELDS: [FieldGroup; 26] = [
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
    chicane_vary::FIELDS[0],
    chicane_vary::FIELDS[1],
    chicane_vary::FIELDS[2],
    chicane_vary::FIELDS[3],
    chicane_vary::FIELDS[4],
];
