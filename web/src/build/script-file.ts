/** A judging script of a project: loads it, saves changes, and lets the server check it. */
import { ApiError } from "../net/api.ts";
import { t } from "../strings.ts";
import { Signal } from "../ui/signal.ts";
import type { BuilderClient, ScriptCheck } from "./client.ts";
import { errorText } from "./forms.ts";

/** `theirs`: another person has changed the file, so the change of this page was not saved. */
export type SaveState = "saved" | "waiting" | "saving" | "failed" | "theirs";

/** A change is saved this long after the user has stopped typing. */
const SAVE_AFTER_MS = 700;

/**
 * The errors of the last check. `isKnown` is false before the first check, and if the server could
 * not make the last check.
 */
export interface CheckState {
  isKnown: boolean;
  errors: ScriptCheck["errors"];
  /** Why the script could not be checked; empty if it was checked. */
  problem: string;
}

const UNCHECKED: CheckState = { isKnown: false, errors: [], problem: "" };

export class ScriptFile {
  readonly save = new Signal<SaveState>("saved");
  readonly check = new Signal<CheckState>(UNCHECKED);
  /** Why the last save failed. */
  problem = "";
  /** The text that the server has stored; null if the file does not exist yet. */
  #stored: string | null = null;
  #text = "";
  #timer: ReturnType<typeof setTimeout> | undefined;
  #saving: Promise<void> | null = null;
  #checking: AbortController | null = null;
  readonly #flush = (): Promise<void> => this.flush();

  constructor(
    readonly client: BuilderClient,
    readonly project: string,
    readonly name: string,
  ) {}

  get text(): string {
    return this.#text;
  }

  /** Loads the text; null if the project has no such file. */
  async load(): Promise<string | null> {
    this.#stored = await this.#fetch();
    this.#text = this.#stored ?? "";
    this.save.value = "saved";
    if (this.#stored !== null) void this.verify();
    return this.#stored;
  }

  /** Sets a new text, saves it after a delay, and checks it. */
  change(text: string): void {
    if (text === this.#text && this.#stored !== null) return;
    this.#text = text;
    if (this.save.value !== "theirs") this.save.value = "waiting";
    this.client.unsaved.add(this.#flush);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.flush().catch(() => undefined), SAVE_AFTER_MS);
  }

  /** Saves immediately. Rejects if the text could not be saved. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#saving;
    if (this.#text === this.#stored) {
      this.client.unsaved.delete(this.#flush);
      this.save.value = "saved";
      return;
    }
    if (this.save.value === "theirs") throw new ApiError(409, this.problem);
    this.#saving = this.#store().finally(() => (this.#saving = null));
    await this.#saving;
  }

  /** Saves this text although another person has changed the file. */
  async keepMine(): Promise<void> {
    this.#stored = await this.#fetch();
    this.save.value = "waiting";
    await this.flush();
  }

  async #store(): Promise<void> {
    const text = this.#text;
    this.save.value = "saving";
    try {
      // The API replaces a file without checking a revision, so the page first compares the stored
      // file with the text that it knows.
      if ((await this.#fetch()) !== this.#stored) {
        this.save.value = "theirs";
        throw new ApiError(409, t.buildTabs.rules.theirs);
      }
      await this.client.putFile(this.project, this.name, new Blob([text], { type: "text/x-python" }));
    } catch (error) {
      this.problem = errorText(error);
      if (this.save.value !== "theirs") this.save.value = "failed";
      throw error;
    }
    this.#stored = text;
    void this.verify();
    if (this.#text === text) {
      this.client.unsaved.delete(this.#flush);
      this.save.value = "saved";
    } else {
      this.save.value = "waiting";
    }
  }

  async #fetch(): Promise<string | null> {
    try {
      return await this.client.readText(this.project, this.name);
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return null;
      throw error;
    }
  }

  /** Lets the server check the script, without running it. */
  async verify(): Promise<void> {
    this.#checking?.abort();
    const mine = (this.#checking = new AbortController());
    try {
      const { errors } = await this.client.checkScript(this.#text, mine.signal);
      if (!mine.signal.aborted) this.check.value = { isKnown: true, errors, problem: "" };
    } catch (error) {
      if (!mine.signal.aborted) this.check.value = { ...UNCHECKED, problem: errorText(error) };
    }
  }

  /** Ends the check and the timer, and saves the text if it is unsaved. */
  close(): void {
    this.#checking?.abort();
    void this.flush().catch(() => undefined);
  }
}
