/** The picture dialog: choose a picture of the project, or upload one after cropping it. */
import { t } from "../strings.ts";
import { fill, h, show } from "../ui/dom.ts";
import { preventFling } from "../ui/fling.ts";
import type { BuilderClient, ProjectFile } from "./client.ts";
import {
  type Crop,
  dragged,
  fitted,
  freeName,
  fullCrop,
  type Handle,
  handleAt,
  MIN_SIDE,
  outputSize,
  type Size,
} from "./crop.ts";
import type { Editor } from "./editor.ts";
import { busy, bytesText, errorLine, field, fileChooser, openDialog } from "./forms.ts";

export type Purpose = "ground" | "decal" | "texture";

/** Longest side of a stored picture, pixels. */
const MAX_SIDE = 2048;
/**
 * Size of the largest file that the dialog opens (`MAX_SOURCE_BYTES`), and of the largest file that
 * the simulator accepts (`MAX_BYTES`).
 */
const MAX_SOURCE_BYTES = 50 * 1024 * 1024;
const MAX_BYTES = 8 * 1024 * 1024;
const JPEG_QUALITY = 0.9;
/** Size of a corner handle on the screen, CSS pixels. */
const HANDLE_PX = 14;

/**
 * Required ratio of width to height; null if any ratio is allowed. The texture of a ground repeats
 * in both directions every metre, so its picture is square.
 */
function ratioFor(purpose: Purpose): number | null {
  return purpose === "ground" ? 1 : null;
}

/** Decodes a picture file of the user. */
async function decode(file: File): Promise<ImageBitmap> {
  if (file.size > MAX_SOURCE_BYTES) throw new Error(t.buildTabs.pictures.tooLarge);
  try {
    return await createImageBitmap(file);
  } catch {
    throw new Error(t.buildTabs.pictures.notRead);
  }
}

/**
 * The cropped picture as a file. A PNG is stored as PNG, because it may be transparent. The picture
 * is reduced until the simulator accepts a file of this size, or the picture has the smallest size.
 */
async function cut(picture: ImageBitmap, crop: Crop, isPng: boolean): Promise<Blob> {
  for (let side = MAX_SIDE; ; side = Math.round(side / 2)) {
    const { width, height } = outputSize(crop, side);
    const canvas = h("canvas", { width, height });
    canvas.getContext("2d")?.drawImage(picture, crop.left, crop.top, crop.width, crop.height, 0, 0, width, height);
    const type = isPng ? "image/png" : "image/jpeg";
    const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, type, JPEG_QUALITY));
    if (!blob) throw new Error(t.buildTabs.pictures.notRead);
    if (blob.size <= MAX_BYTES || side <= MIN_SIDE) return blob;
  }
}

/** A canvas that shows the picture with the crop, and number fields for the crop. */
function cropper(picture: ImageBitmap, ratio: number | null): { element: HTMLElement; crop: () => Crop } {
  const texts = t.buildTabs.pictures;
  const size: Size = { width: picture.width, height: picture.height };
  let crop = fullCrop(size, ratio);
  const scale = Math.min(1, 560 / size.width, 380 / size.height);
  const canvas = h("canvas", {
    class: "crop-canvas",
    width: Math.max(1, Math.round(size.width * scale)),
    height: Math.max(1, Math.round(size.height * scale)),
    role: "img",
    "aria-label": texts.canvas,
    "data-testid": "crop-canvas",
  });
  const fields = numberFields(size, ratio !== null, (changed) => set(fitted(size, { ...crop, ...changed }, ratio)));
  function set(next: Crop): void {
    crop = next;
    draw(canvas, picture, crop, scale);
    fields.show(crop);
  }
  dragCrop(
    canvas,
    scale,
    () => crop,
    (start, handle, dx, dy) => set(dragged(size, start, handle, dx, dy, ratio)),
  );
  set(crop);
  return { element: h("div", { class: "form-stack" }, canvas, fields.element), crop: () => crop };
}

function draw(canvas: HTMLCanvasElement, picture: ImageBitmap, crop: Crop, scale: number): void {
  const context = canvas.getContext("2d");
  if (!context) return;
  const [left, top, width, height] = [crop.left, crop.top, crop.width, crop.height].map((value) => value * scale);
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.drawImage(picture, 0, 0, canvas.width, canvas.height);
  context.fillStyle = "rgb(0 0 0 / 60%)";
  context.beginPath();
  context.rect(0, 0, canvas.width, canvas.height);
  context.rect(left, top, width, height);
  context.fill("evenodd");
  context.lineWidth = 2;
  context.strokeStyle = "#fff";
  context.strokeRect(left + 1, top + 1, Math.max(0, width - 2), Math.max(0, height - 2));
  context.fillStyle = "#fff";
  const half = HANDLE_PX / 2;
  for (const x of [left, left + width]) {
    for (const y of [top, top + height]) context.fillRect(x - half, y - half, HANDLE_PX, HANDLE_PX);
  }
}

/** Drags the crop and its corners with mouse, pen or finger. */
function dragCrop(
  canvas: HTMLCanvasElement,
  scale: number,
  current: () => Crop,
  onDrag: (start: Crop, handle: Handle, dx: number, dy: number) => void,
): void {
  let drag: { crop: Crop; handle: Handle; x: number; y: number } | null = null;
  const point = (event: PointerEvent): [number, number] => {
    // The page may show the canvas smaller than its size in pixels, so the distance from its corner
    // is scaled.
    const box = canvas.getBoundingClientRect();
    const factor = canvas.width / Math.max(1, box.width) / scale;
    return [(event.clientX - box.left) * factor, (event.clientY - box.top) * factor];
  };
  canvas.addEventListener("pointerdown", (event) => {
    const [x, y] = point(event);
    const crop = current();
    const handle = handleAt(crop, x, y, HANDLE_PX / scale);
    if (!handle) return;
    drag = { crop, handle, x, y };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const [x, y] = point(event);
    onDrag(drag.crop, drag.handle, x - drag.x, y - drag.y);
  });
  for (const end of ["pointerup", "pointercancel"] as const) canvas.addEventListener(end, () => (drag = null));
  preventFling(canvas);
}

/** The crop as numbers, for exact values and for the keyboard. */
function numberFields(picture: Size, isSquare: boolean, onChange: (change: Partial<Crop>) => void) {
  const texts = t.buildTabs.pictures;
  const make = (key: keyof Crop, max: number): [keyof Crop, HTMLInputElement] => {
    const isSide = key === "width" || key === "height";
    const input = h("input", {
      type: "number",
      min: isSide ? MIN_SIDE : 0,
      max,
      step: 1,
      "data-testid": `crop-${key}`,
    });
    input.addEventListener("change", () => onChange({ [key]: input.valueAsNumber }));
    return [key, input];
  };
  const inputs = [make("left", picture.width), make("top", picture.height), make("width", picture.width)];
  // A square needs no height field, because its height equals its width.
  if (!isSquare) inputs.push(make("height", picture.height));
  return {
    element: h("div", { class: "crop-numbers" }, ...inputs.map(([key, input]) => field(texts.crop[key], input))),
    show: (crop: Crop) => inputs.forEach(([key, input]) => (input.value = String(crop[key]))),
  };
}

/** The pictures of the project as buttons. */
function existing(
  editor: Editor,
  client: BuilderClient,
  files: readonly ProjectFile[],
  onChosen: (name: string) => void,
): HTMLElement {
  const texts = t.buildTabs.pictures;
  const pictures = files.filter((file) => file.width && file.height);
  const buttons = pictures.map((file) =>
    h(
      "li",
      {},
      h(
        "button",
        {
          type: "button",
          class: "picture-choice",
          "data-testid": `picture-${file.name}`,
          on: { click: () => onChosen(file.name) },
        },
        h("img", { src: client.fileUrl(editor.id, file.name), alt: "", loading: "lazy" }),
        h("span", {}, file.name),
        h("span", { class: "hint" }, texts.facts(String(file.width), String(file.height), bytesText(file.bytes))),
      ),
    ),
  );
  return h(
    "section",
    { class: "form-stack", hidden: pictures.length === 0 },
    h("h3", {}, texts.existing),
    h("ul", { class: "picture-choices" }, ...buttons),
  );
}

/**
 * Opens the dialog. Resolves to the file name in the project, or to null if the user has closed the
 * dialog.
 */
export function choosePicture(editor: Editor, client: BuilderClient, purpose: Purpose): Promise<string | null> {
  const texts = t.buildTabs.pictures;
  const ratio = ratioFor(purpose);
  return new Promise((resolve) => {
    const error = errorLine("picture-error");
    const list = h("div", {});
    const place = h("div", {});
    const send = h(
      "button",
      { type: "button", class: "primary wide", hidden: true, "data-testid": "picture-upload" },
      texts.upload,
    );
    let files: readonly ProjectFile[] = [];
    let source: { file: File; picture: ImageBitmap; crop: () => Crop } | null = null;
    let result: string | null = null;

    async function take(file: File): Promise<void> {
      const picture = await decode(file);
      source?.picture.close();
      const view = cropper(picture, ratio);
      source = { file, picture, crop: view.crop };
      fill(place, view.element);
      show(send, true);
    }

    async function upload(): Promise<void> {
      if (!source) return;
      const blob = await cut(source.picture, source.crop(), source.file.type === "image/png");
      const name = freeName(
        source.file.name,
        blob.type,
        files.map((file) => file.name),
      );
      finish((await client.putFile(editor.id, name, blob)).name);
    }

    function finish(name: string): void {
      result = name;
      element.close();
    }

    const accept = "image/png,image/jpeg,image/webp";
    const chooser = fileChooser(
      texts.choose,
      accept,
      "picture",
      (file, button) => void busy(button, error, () => take(file)),
    );
    send.addEventListener("click", () => void busy(send, error, upload));
    const hint = h("p", { class: "hint" }, texts.help[purpose]);
    const element = openDialog(
      { icon: "box", title: texts.title, testid: "picture-dialog" },
      hint,
      list,
      h("div", { class: "row" }, ...chooser),
      place,
      error.element,
      send,
    );
    element.addEventListener("close", () => {
      source?.picture.close();
      resolve(result);
    });
    client
      .read(editor.id)
      .then((view) => {
        files = view.files;
        fill(list, existing(editor, client, files, finish));
      })
      .catch((problem: unknown) => error.show(problem));
  });
}
