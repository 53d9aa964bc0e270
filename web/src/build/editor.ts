/** What the parts of the builder page know of the open project. */
import type { Signal } from "../ui/signal.ts";
import type { Preview } from "./client.ts";
import type { ProjectDocument } from "./document.ts";

export interface Editor {
  /** Id of the project. */
  readonly id: string;
  readonly document: Signal<ProjectDocument>;
  readonly preview: Signal<Preview | null>;
  /** One undo step. `change` mutates a draft copy. */
  apply(label: string, change: (draft: ProjectDocument) => void): void;
  /** Resolves when every change so far is acknowledged by the server. */
  saved(): Promise<void>;
  /** Shows a short message (also read by screen readers). */
  say(text: string): void;
}
