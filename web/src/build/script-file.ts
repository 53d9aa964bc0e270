/** A judging script of a project: loads it, saves changes, and has it checked. */
import { ApiError } from "../net/api.ts";
import { t } from "../strings.ts";
import { Signal } from "../ui/signal.ts";
import type { BuilderClient, ScriptCheck } from "./client.ts";
import { errorText } from "./forms.ts";

/** `theirs`: another person has changed the file, and nothing was saved. */
export type SaveState = "saved" | "waiting" | "saving" | "failed" | "theirs";

/** A change is saved when the user has stopped to type. */
const SAVE_AFTER_MS = 700;

/** The errors of the last check. `isKnown` is false before the check, and if it is not available. */
export interface CheckState {
  isKnown: boolean;
  errors: ScriptCheck["errors"];
  /** Why the script was not checked; empty if it was. */
  problem: string;
}

const UNCHECKED: CheckState = { isKnown: false, errors: [], problem: "" };

export class ScriptFile {
  readonly save = new Signal<SaveState>("saved");
  readonly check = new Signal<CheckState>(UNCHECKED);
  /** Why the last save failed. */
  problem = "";
  /** The text that the server has; null if the file does not exist yet. */
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

  /** Takes a new text, saves it soon, and checks it. */
  change(text: string): void {
    if (text === this.#text && this.#stored !== null) return;
    this.#text = text;
    if (this.save.value !== "theirs") this.save.value = "waiting";
    this.client.unsaved.add(this.#flush);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.flush().catch(() => undefined), SAVE_AFTER_MS);
  }

  /** Saves at once. Rejects if the text could not be saved. */
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

  /** Keeps this text although another person has changed the file. */
  async keepMine(): Promise<void> {
    this.#stored = await this.#fetch();
    this.save.value = "waiting";
    await this.flush();
  }

  async #store(): Promise<void> {
    const text = this.#text;
    this.save.value = "saving";
    try {
      // The API replaces a file without a revision, so the page compares it with what it knows.
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

  /** Has the script checked by the judge, without running it. */
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

  /** Ends the timer. The text that is not saved yet is saved once more. */
  close(): void {
    this.#checking?.abort();
    void this.flush().catch(() => undefined);
  }
}
