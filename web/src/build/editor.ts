/** The interface of the editor that tabs and dialogs use. */
import type { Signal } from "../ui/signal.ts";
import type { Preview } from "./client.ts";
import type { ProjectDocument } from "./document.ts";

export interface Editor {
  /** Id of the project. */
  readonly id: string;
  readonly document: Signal<ProjectDocument>;
  /** What the server's builder computed for the document; null before its first answer. */
  readonly preview: Signal<Preview | null>;
  /** Changes the document as one undo step. `change` mutates a copy of the document. */
  apply(label: string, change: (draft: ProjectDocument) => void): void;
  /** Resolves when the server has acknowledged every change so far. */
  saved(): Promise<void>;
  /** Shows a short message, which screen readers announce. */
  say(text: string): void;
}
