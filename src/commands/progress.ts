const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const frameMs = 80;

/** Shows what is being done: a spinner on a terminal, nothing elsewhere. */
export class Progress {
  readonly #stream = process.stderr;
  readonly #timer: NodeJS.Timeout | undefined;
  #step = '';
  #frame = 0;

  constructor() {
    if (this.#stream.isTTY) this.#timer = setInterval(() => this.#draw(), frameMs);
  }

  /** Names the step that has begun. */
  show = (step: string): void => {
    this.#step = step;
    this.#draw();
  };

  /** Clears the line. */
  end(): void {
    clearInterval(this.#timer);
    if (this.#timer) this.#stream.write('\r\u001B[K');
  }

  #draw(): void {
    if (!this.#timer) return;
    this.#frame = (this.#frame + 1) % frames.length;
    this.#stream.write(`\r\u001B[K${frames[this.#frame]} ${this.#step}`);
  }
}
