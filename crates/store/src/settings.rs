//! Settings that are kept from one start to the next.

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::{Mutex, PoisonError};

const BRIGHTNESS: &str = "brightness";
const LAST_WORLD: &str = "last_world";

/// Why a value could not be stored or read.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum StoreError {
    /// The database failed, for instance because the disk is full or the file is damaged.
    #[error("the database can't be read or written: {0}")]
    Database(String),
    /// The brightness is out of range.
    #[error(
        "brightness {0} is out of range: it must be {min} to {max}",
        min = Settings::BRIGHTNESS.start(), max = Settings::BRIGHTNESS.end()
    )]
    Brightness(f64),
}

/// The settings of a data folder. All calls block. A write is on disk when its call returns.
#[derive(Debug)]
pub struct Settings {
    connection: Mutex<Connection>,
}

impl Settings {
    /// The allowed range of the brightness, a factor that is applied to every displayed pixel.
    pub const BRIGHTNESS: RangeInclusive<f64> = 0.2..=2.0;

    pub(crate) fn new(connection: Connection) -> Settings {
        Settings { connection: Mutex::new(connection) }
    }

    /// The stored brightness. `None` if none is stored, or if the stored value is invalid.
    pub fn brightness(&self) -> Result<Option<f64>, StoreError> {
        Ok(self.get(BRIGHTNESS)?.and_then(|value| match value {
            Value::Real(x) if Self::BRIGHTNESS.contains(&x) => Some(x),
            other => ignored(BRIGHTNESS, &other),
        }))
    }

    /// Stores the brightness.
    pub fn set_brightness(&self, brightness: f64) -> Result<(), StoreError> {
        if !Self::BRIGHTNESS.contains(&brightness) {
            return Err(StoreError::Brightness(brightness));
        }
        self.set(BRIGHTNESS, Value::Real(brightness))
    }

    /// Name of the world that was open last. `None` if none is stored, or if the stored value is
    /// invalid.
    pub fn last_world(&self) -> Result<Option<String>, StoreError> {
        Ok(self.get(LAST_WORLD)?.and_then(|value| match value {
            Value::Text(name) => Some(name),
            other => ignored(LAST_WORLD, &other),
        }))
    }

    /// Stores the name of the open world.
    pub fn set_last_world(&self, world: &str) -> Result<(), StoreError> {
        self.set(LAST_WORLD, Value::Text(world.to_owned()))
    }

    /// The stored lights of a world, by the name of the light. True means red.
    pub fn lights(&self, world: &str) -> Result<BTreeMap<String, bool>, StoreError> {
        self.with(|connection| {
            let mut query = connection.prepare("SELECT name, red FROM light WHERE world = ?1")?;
            query.query_map([world], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        })
    }

    /// Stores the lights of a world, and deletes the lights of all other worlds.
    pub fn set_lights(&self, world: &str, lights: &BTreeMap<String, bool>) -> Result<(), StoreError> {
        self.with(|connection| {
            let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            change.execute("DELETE FROM light", [])?;
            {
                let mut add = change.prepare("INSERT INTO light (world, name, red) VALUES (?1, ?2, ?3)")?;
                for (name, red) in lights {
                    add.execute(params![world, name, red])?;
                }
            }
            change.commit()
        })
    }

    fn get(&self, name: &str) -> Result<Option<Value>, StoreError> {
        let sql = "SELECT value FROM setting WHERE name = ?1";
        self.with(|connection| connection.query_row(sql, [name], |row| row.get(0)).optional())
    }

    fn set(&self, name: &str, value: Value) -> Result<(), StoreError> {
        let sql = "INSERT INTO setting (name, value) VALUES (?1, ?2) \
                   ON CONFLICT (name) DO UPDATE SET value = excluded.value";
        self.with(|connection| connection.execute(sql, params![name, value]).map(drop))
    }

    fn with<T>(&self, work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        // A poisoned lock can be used, because a panic rolls the transaction back.
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        work(&mut connection).map_err(|e| StoreError::Database(e.to_string()))
    }
}

/// Logs that a stored value is invalid, and returns `None`.
fn ignored<T>(name: &str, value: &Value) -> Option<T> {
    tracing::warn!(setting = name, ?value, "a stored setting is invalid and is ignored");
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database;
    use crate::temp_folder::TempFolder;

    fn settings(scratch: &TempFolder) -> Settings {
        Settings::new(database::open(&scratch.path().join("chicane.db")).expect("opens"))
    }

    fn lights(of: &[(&str, bool)]) -> BTreeMap<String, bool> {
        of.iter().map(|&(name, red)| (name.to_owned(), red)).collect()
    }

    #[test]
    fn nothing_is_set_at_first() {
        let scratch = TempFolder::new();
        let settings = settings(&scratch);
        assert_eq!(settings.brightness(), Ok(None));
        assert_eq!(settings.last_world(), Ok(None));
        assert_eq!(settings.lights("oval"), Ok(BTreeMap::new()));
    }

    #[test]
    fn the_last_value_counts() {
        let scratch = TempFolder::new();
        let settings = settings(&scratch);
        for brightness in [0.2, 1.0, 0.1 + 0.2, 2.0] {
            settings.set_brightness(brightness).expect("set");
            assert_eq!(settings.brightness(), Ok(Some(brightness)));
        }
        for world in ["oval", "", "ein 'Feld'; --", "a\0b"] {
            settings.set_last_world(world).expect("set");
            assert_eq!(settings.last_world(), Ok(Some(world.to_owned())));
        }
    }

    #[test]
    fn a_brightness_out_of_range_is_refused() {
        let scratch = TempFolder::new();
        let settings = settings(&scratch);
        settings.set_brightness(0.7).expect("set");
        for brightness in [0.199, 2.001, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let e = settings.set_brightness(brightness).expect_err("refused");
            assert_eq!(
                e.to_string(),
                format!("brightness {brightness} is out of range: it must be 0.2 to 2")
            );
        }
        assert_eq!(settings.brightness(), Ok(Some(0.7)));
    }

    #[test]
    fn an_invalid_stored_value_is_ignored() {
        let scratch = TempFolder::new();
        let settings = settings(&scratch);
        for value in [
            Value::Real(0.1),
            Value::Real(f64::INFINITY),
            Value::Integer(1000),
            Value::Text("bright".to_owned()),
            Value::Blob(vec![1, 2]),
        ] {
            settings.set(BRIGHTNESS, value.clone()).expect("set");
            assert_eq!(settings.brightness(), Ok(None), "{value:?}");
        }
        settings.set(LAST_WORLD, Value::Real(1.0)).expect("set");
        assert_eq!(settings.last_world(), Ok(None));
    }

    #[test]
    fn stored_lights_replace_all_others() {
        let scratch = TempFolder::new();
        let settings = settings(&scratch);
        settings.set_lights("oval", &lights(&[("a", true), ("b", false)])).expect("set");
        assert_eq!(settings.lights("oval"), Ok(lights(&[("a", true), ("b", false)])));
        assert_eq!(settings.lights("field"), Ok(BTreeMap::new()));
        settings.set_lights("oval", &lights(&[("b", true)])).expect("set");
        assert_eq!(settings.lights("oval"), Ok(lights(&[("b", true)])));
        settings.set_lights("field", &lights(&[("c", false)])).expect("set");
        assert_eq!(settings.lights("oval"), Ok(BTreeMap::new()));
        assert_eq!(settings.lights("field"), Ok(lights(&[("c", false)])));
        settings.set_lights("field", &BTreeMap::new()).expect("set");
        assert_eq!(settings.lights("field"), Ok(BTreeMap::new()));
    }

    #[test]
    fn threads_can_write_at_the_same_time() {
        let scratch = TempFolder::new();
        let settings = settings(&scratch);
        std::thread::scope(|scope| {
            for k in 0..4 {
                let settings = &settings;
                scope.spawn(move || {
                    for i in 0..5 {
                        settings.set_brightness(0.5 + f64::from(k) / 10.0).expect("set");
                        let both = lights(&[("a", i % 2 == 0), ("b", i % 2 == 0)]);
                        settings.set_lights("oval", &both).expect("set");
                        let now = settings.lights("oval").expect("read");
                        assert_eq!(now["a"], now["b"], "a change is seen as a whole");
                    }
                });
            }
        });
    }
}
