/** Downloads of data that the page has made. */
import { h } from "./dom.ts";

/** Time for which the browser may need the data of a download. */
const DOWNLOAD_MS = 60_000;

/** Saves a blob as a file. */
export function saveBlob(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob);
  h("a", { href: address, download: name }).click();
  // The browser reads the blob after the click, so the address must stay valid for a while.
  setTimeout(() => URL.revokeObjectURL(address), DOWNLOAD_MS);
}
