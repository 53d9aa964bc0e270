/** The samples of a run as CSV, for spreadsheets. */
import { CAR_COLUMNS, type CarColumn, type RunTracks } from "../net/tracks.ts";

/** Names of the columns with their units. */
const HEADS: Readonly<Record<CarColumn, string>> = {
  x: "x_m",
  y: "y_m",
  z: "z_m",
  qx: "qx",
  qy: "qy",
  qz: "qz",
  qw: "qw",
  speed: "speed_m_s",
  steering: "steering_rad",
  steer_left: "steer_left_rad",
  steer_right: "steer_right_rad",
  wheel0: "wheel0_rad",
  wheel1: "wheel1_rad",
  wheel2: "wheel2_rad",
  wheel3: "wheel3_rad",
  pan: "pan_rad",
  tilt: "tilt_rad",
  command_speed: "command_speed_m_s",
  command_steering: "command_steering_rad",
  offset: "offset_m",
  along: "along_m",
};
/** Rows per part of the file. A single string of a long run could exceed the browser's limit. */
const ROWS = 5000;

/** The parts of the file, in order. A missing value is an empty field. */
export function* csvParts({ car }: RunTracks): Generator<string> {
  yield `${["time_s", ...CAR_COLUMNS.map((name) => HEADS[name])].join(",")}\r\n`;
  const columns = CAR_COLUMNS.map((name) => car[name]);
  const field = (value: number) => (Number.isNaN(value) ? "" : String(Number(value.toPrecision(7))));
  for (let from = 0; from < car.time.length; from += ROWS) {
    let part = "";
    for (let i = from; i < Math.min(from + ROWS, car.time.length); i++) {
      part += `${Number(car.time[i].toFixed(3))},${columns.map((column) => field(column[i])).join(",")}\r\n`;
    }
    yield part;
  }
}
