/** Loads the pictures of a project for the top view and the 3D view. */

export class PictureCache {
  readonly #images = new Map<string, { image: HTMLImageElement; loaded: boolean }>();

  constructor(
    readonly urlOf: (name: string) => string,
    /** Called when a picture has been loaded, so that the views are drawn again. */
    readonly onLoad: () => void,
  ) {}

  /**
   * The picture; null if it is not loaded yet or does not exist. The first call for a name starts
   * to load its picture.
   */
  get(name: string): HTMLImageElement | null {
    const known = this.#images.get(name);
    if (known) return known.loaded ? known.image : null;
    const entry = { image: new Image(), loaded: false };
    this.#images.set(name, entry);
    entry.image.addEventListener("load", () => {
      entry.loaded = true;
      this.onLoad();
    });
    entry.image.src = this.urlOf(name);
    return null;
  }

  /** Clears the cache, because files of the project may have changed. */
  clear(): void {
    this.#images.clear();
    this.onLoad();
  }
}
