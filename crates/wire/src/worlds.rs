//! Listing, switching, installing and deleting worlds.

use crate::fields::{Body, Fields, Invalid};
use crate::num::Num;
use serde::Serialize;
use utoipa::ToSchema;

/// Id of a published world: 32 lower-case hex digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorldId(String);

impl std::fmt::Display for WorldId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl WorldId {
    /// Parses an id; `None` if the text is not an id.
    pub fn parse(text: &str) -> Option<WorldId> {
        let hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        (text.len() == 32 && text.bytes().all(hex)).then(|| WorldId(text.to_owned()))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Response of `GET /worlds`: first the worlds that cannot be deleted, then the others. Both groups
/// are sorted by name.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Worlds {
    /// The worlds.
    pub worlds: Vec<WorldEntry>,
    /// Name of the world that is ready; null while a world is being loaded, or if no world runs.
    pub current: Option<String>,
}

/// A world that a client can switch to.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct WorldEntry {
    /// Name of the world.
    #[schema(example = "oval")]
    pub name: String,
    /// File name of the world, for `POST /switch`.
    #[schema(example = "oval.world")]
    pub file: String,
    /// Display name.
    pub display: String,
    /// Id of the published world; null for every other world.
    pub world_id: Option<String>,
    /// Width and height of the drivable ground, or of the route if the world has no such ground, m;
    /// zero if neither is known.
    pub size: [Num; 2],
    /// Whether the world is part of the program.
    pub official: bool,
    /// Whether the world has an evaluation.
    pub evaluation: bool,
    /// Whether the world can be deleted.
    pub deletable: bool,
    /// False for an installed world whose files could not be verified against its id; true for
    /// every other world.
    pub verified: bool,
}

/// Request body of `POST /switch`. Exactly one of the two fields is required.
#[derive(Debug, Clone, PartialEq, Eq, Default, ToSchema)]
#[schema(as = SwitchRequest)]
pub struct SwitchRequestBody {
    /// Name of the world, with or without `.world`.
    #[schema(pattern = r"^[A-Za-z0-9_\-]{1,100}(\.world)?$", example = "oval.world")]
    pub world: Option<String>,
    /// Id of the published world.
    #[schema(pattern = "^[0-9a-f]{32}$")]
    pub world_id: Option<String>,
}

/// Parsed form of [`SwitchRequestBody`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SwitchRequest {
    /// Name of the world, without `.world`.
    Name(String),
    /// Id of the published world.
    Id(WorldId),
}

impl Body for SwitchRequest {
    fn parse(fields: &Fields) -> Result<SwitchRequest, Invalid> {
        let (wrong_file, wrong_id) = ("invalid world file name", "invalid world_id");
        let file = fields.text("world", wrong_file)?;
        let id = fields.text("world_id", wrong_id)?;
        match (file, id) {
            (Some(_), Some(_)) => Err(Invalid::new("give world or world_id, not both")),
            (Some(file), None) => {
                world_name(file).map(SwitchRequest::Name).ok_or_else(|| Invalid::new(wrong_file))
            }
            (None, Some(id)) => {
                WorldId::parse(id).map(SwitchRequest::Id).ok_or_else(|| Invalid::new(wrong_id))
            }
            (None, None) => Err(Invalid::new(wrong_file)),
        }
    }
}

/// Returns the name of a world without the ending `.world`. `None` if the name is invalid.
fn world_name(file: &str) -> Option<String> {
    let name = file.strip_suffix(".world").unwrap_or(file);
    let fits = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    ((1..=100).contains(&name.len()) && name.bytes().all(fits)).then(|| name.to_owned())
}

/// Response of `POST /switch`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Switched {
    /// Always true.
    pub ok: bool,
    /// File name of the world.
    #[schema(example = "oval.world")]
    pub world: String,
}

/// Response of `GET /worldpub`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Publication {
    /// Name of the world.
    pub world: String,
    /// Id of the published world; null for every other world.
    pub world_id: Option<String>,
    /// Revision of a published world, or of the world of a project; null for every other world.
    pub rev: Option<String>,
    /// Revision of the assets that all worlds share.
    pub assets_rev: String,
    /// Address from which worlds are installed.
    pub cdn: String,
}

/// Request body of `POST /worlds/install`.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
#[schema(as = InstallRequest)]
pub struct InstallRequestBody {
    /// Id of the published world.
    #[schema(pattern = "^[0-9a-f]{32}$")]
    pub world_id: String,
}

/// Parsed form of [`InstallRequestBody`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstallRequest {
    /// Id of the published world.
    pub world_id: WorldId,
}

impl Body for InstallRequest {
    fn parse(fields: &Fields) -> Result<InstallRequest, Invalid> {
        let wrong = "invalid world_id";
        let id = fields.text("world_id", wrong)?.and_then(WorldId::parse);
        id.map(|world_id| InstallRequest { world_id }).ok_or_else(|| Invalid::new(wrong))
    }
}

/// Response of `POST /worlds/install`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct InstallAnswer {
    /// Always true.
    pub ok: bool,
    /// File name of the world, for `POST /switch`.
    #[schema(example = "custom_0123456789abcdef0123456789abcdef.world")]
    pub world: String,
    /// Display name.
    pub name: String,
    /// Revision of the world's files.
    pub rev: String,
    /// Whether this revision was already installed, so that only its metadata was downloaded.
    pub cached: bool,
    /// Whether the world's id matches the hash of its files.
    pub verified: bool,
}

/// Response of `DELETE /worlds/<name>` and of `DELETE /submissions/<id>`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Deleted {
    /// Always true.
    pub ok: bool,
    /// Name of the deleted world, or id of the deleted submission.
    pub deleted: String,
}
