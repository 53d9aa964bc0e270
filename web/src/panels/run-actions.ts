/** Buttons of a run: copy its link, download the run, download its samples as CSV. */
import type { App } from "../app.ts";
import { runFileAddress } from "../net/runs.ts";
import type { RunTracks } from "../net/tracks.ts";
import type { RunAddress } from "../replay/address.ts";
import { csvParts } from "../replay/csv.ts";
import { t } from "../strings.ts";
import { copy } from "../ui/clipboard.ts";
import { h } from "../ui/dom.ts";
import { icon } from "../ui/icons.ts";
import { saveBlob } from "../ui/save-blob.ts";
import { addressOf, runButton } from "./run-link.ts";

/** If `tracks` is null, only the link is offered. `address` is called when the link is copied. */
export function runActions(app: App, tracks: RunTracks | null, address: () => RunAddress): HTMLElement {
  const link = runButton("link", t.replay.copyLink, t.replay.copyLink, "run-link", () =>
    void copy(app, location.origin + addressOf(address())),
  );
  return h(
    "div",
    { class: "run-actions" },
    link,
    tracks &&
      h(
        "a",
        { class: "plain button-link", href: runFileAddress(tracks.session), download: "", "data-testid": "run-file" },
        icon("download"),
        t.replay.downloadRun,
      ),
    tracks &&
      runButton("download", t.replay.downloadCsv, t.replay.downloadCsv, "run-csv", () => downloadCsv(tracks)),
  );
}

function downloadCsv(tracks: RunTracks): void {
  saveBlob(new Blob([...csvParts(tracks)], { type: "text/csv" }), t.replay.csvName(tracks.session));
}
