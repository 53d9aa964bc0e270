//! Colours of Gazebo's script materials. World files contain the names of these materials, but not
//! their colours.

/// RGBA colour of a Gazebo script material. The result is `None` if the name is unknown.
pub(super) fn script_colour(name: &str) -> Option<[f32; 4]> {
    let rgb = match name.trim().strip_prefix("Gazebo/")? {
        "Black" | "FlatBlack" => [0.0, 0.0, 0.0],
        "Blue" | "BlueGlow" | "TurquoiseGlowOutline" => [0.0, 0.0, 1.0],
        "Bricks" | "BrightBricks" | "CeilingTiled" => [0.6, 0.4, 0.35],
        "CloudySky" | "Sky" | "SkyBlue" => [0.53, 0.72, 0.9],
        "DarkGrey" | "DarkGray" => [0.175, 0.175, 0.175],
        "DarkYellow" => [0.7, 0.7, 0.0],
        "Gold" => [0.8, 0.648, 0.12],
        "Grass" => [0.3, 0.45, 0.2],
        "Green" | "GreenGlow" | "DarkGreen" | "GreenBright" => [0.0, 1.0, 0.0],
        "Grey" | "Gray" | "WeatheredIron" | "Asphalt" => [0.5, 0.5, 0.5],
        "Indigo" => [0.33, 0.0, 0.5],
        "Orange" => [1.0, 0.508, 0.0],
        "Pedestal" | "Residential" | "Runway" | "Road" | "Motorway" => [0.4, 0.4, 0.4],
        "Pink" => [1.0, 0.6, 0.7],
        "Purple" | "PurpleGlow" => [1.0, 0.0, 1.0],
        "Red" | "RedGlow" | "RedBright" => [1.0, 0.0, 0.0],
        "RedTransparent" | "RedTransparentOverlay" => return Some([1.0, 0.0, 0.0, 0.5]),
        "GreenTransparent" => return Some([0.0, 1.0, 0.0, 0.5]),
        "BlueTransparent" => return Some([0.0, 0.0, 1.0, 0.5]),
        "YellowTransparent" => return Some([1.0, 1.0, 0.0, 0.5]),
        "GreyTransparent" | "DarkOrangeTransparent" => return Some([0.5, 0.5, 0.5, 0.5]),
        "Turquoise" | "ZincYellow" => [0.0, 1.0, 1.0],
        "White" | "WhiteGlow" => [1.0, 1.0, 1.0],
        "Wood" | "WoodFloor" | "WoodPallet" | "WoodTile" | "LightWood" => [0.65, 0.48, 0.3],
        "Yellow" | "YellowGlow" => [1.0, 1.0, 0.0],
        _ => return None,
    };
    let [r, g, b] = rgb;
    Some([r, g, b, 1.0])
}
