//! The worlds there are: listing, switching, installing, removing.

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
    /// Reads an id.
    pub fn parse(text: &str) -> Option<WorldId> {
        let hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        (text.len() == 32 && text.bytes().all(hex)).then(|| WorldId(text.to_owned()))
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Answer of `GET /worlds`: those that can't be deleted first, then by name.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Worlds {
    /// The worlds.
    pub worlds: Vec<WorldEntry>,
    /// Name of the world that is ready; null while one is being loaded.
    pub current: Option<String>,
}

/// A world that can be switched to.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct WorldEntry {
    /// Name.
    #[schema(example = "oval")]
    pub name: String,
    /// World file, as `POST /switch` takes it.
    #[schema(example = "oval.world")]
    pub file: String,
    /// Name for people.
    pub display: String,
    /// Published id; null for built-in worlds.
    pub world_id: Option<String>,
    /// Width and height, m.
    pub size: [Num; 2],
    /// Whether it is an official world.
    pub official: bool,
    /// Whether it has an evaluation.
    pub evaluation: bool,
    /// Whether it may be deleted.
    pub deletable: bool,
    /// Whether its files are proven: it came with the program, or its id is the sum of its files.
    pub verified: bool,
}

/// Body of `POST /switch`: one of the two.
#[derive(Debug, Clone, PartialEq, Eq, Default, ToSchema)]
#[schema(as = SwitchRequest)]
pub struct SwitchRequestBody {
    /// World file.
    #[schema(pattern = r"^[A-Za-z0-9_\-]{1,100}\.world$", example = "oval.world")]
    pub world: Option<String>,
    /// Published id.
    #[schema(pattern = "^[0-9a-f]{32}$")]
    pub world_id: Option<String>,
}

/// Which world to switch to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SwitchRequest {
    /// By name.
    Name(String),
    /// By published id.
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

/// The name in `<name>.world`.
fn world_name(file: &str) -> Option<String> {
    let name = file.strip_suffix(".world")?;
    let fits = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    ((1..=100).contains(&name.len()) && name.bytes().all(fits)).then(|| name.to_owned())
}

/// Answer of `POST /switch`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Switched {
    /// Always true.
    pub ok: bool,
    /// World file.
    #[schema(example = "oval.world")]
    pub world: String,
}

/// Answer of `GET /worldpub`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Publication {
    /// Name of the world.
    pub world: String,
    /// Published id; null for built-in worlds.
    pub world_id: Option<String>,
    /// Revision of a published world.
    pub rev: Option<String>,
    /// Revision of the assets that every world shares.
    pub assets_rev: String,
    /// Where worlds are installed from.
    pub cdn: String,
}

/// Body of `POST /worlds/install`.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
#[schema(as = InstallRequest)]
pub struct InstallRequestBody {
    /// Published id.
    #[schema(pattern = "^[0-9a-f]{32}$")]
    pub world_id: String,
}

/// Which world to install.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstallRequest {
    /// Its id.
    pub world_id: WorldId,
}

impl Body for InstallRequest {
    fn parse(fields: &Fields) -> Result<InstallRequest, Invalid> {
        let wrong = "invalid world_id";
        let id = fields.text("world_id", wrong)?.and_then(WorldId::parse);
        id.map(|world_id| InstallRequest { world_id }).ok_or_else(|| Invalid::new(wrong))
    }
}

/// Answer of `POST /worlds/install`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct InstallAnswer {
    /// Always true.
    pub ok: bool,
    /// World file, as `POST /switch` takes it.
    #[schema(example = "custom_0123456789abcdef0123456789abcdef.world")]
    pub world: String,
    /// Its name for people.
    pub name: String,
    /// Revision of its files.
    pub rev: String,
    /// Whether it was there already, so that nothing was fetched but its description.
    pub cached: bool,
    /// Whether its id proves its files.
    pub verified: bool,
}

/// Answer of `DELETE /worlds/<name>`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Deleted {
    /// Always true.
    pub ok: bool,
    /// Name of the world that is gone.
    pub deleted: String,
}
