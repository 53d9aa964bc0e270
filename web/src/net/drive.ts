/**
 * Sends drive commands to the car over WebSockets.
 *
 * The car stops when the connection ends: `close` first sends the speed 0. If a socket is lost, its
 * last command expires on the server after at most 0.7 s. A speed that the page does not repeat
 * also expires.
 */

const RETRY_MS = 1000;

/**
 * A WebSocket that sends one value: the speed or the steering. It reconnects until `close` is
 * called.
 */
class CommandSocket {
  #socket: WebSocket | null = null;
  #timer = 0;
  #open = false;

  constructor(readonly path: string) {}

  open(): void {
    this.#open = true;
    const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${this.path}`);
    this.#socket = socket;
    socket.addEventListener("close", () => {
      if (this.#socket !== socket || !this.#open) return;
      this.#timer = window.setTimeout(() => this.open(), RETRY_MS);
    });
  }

  send(value: number): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify({ value }));
  }

  close(): void {
    this.#open = false;
    clearTimeout(this.#timer);
    this.#socket?.close();
    this.#socket = null;
  }
}

export class DriveLink {
  readonly #speed = new CommandSocket("/speed/stream");
  readonly #steering = new CommandSocket("/steering/stream");

  open(): void {
    this.#speed.open();
    this.#steering.open();
  }

  send(speed: number, steering: number): void {
    this.#speed.send(speed);
    this.#steering.send(steering);
  }

  close(): void {
    this.send(0, 0);
    this.#speed.close();
    this.#steering.close();
  }
}
