import { newId } from '../../kit/ids.ts';
import type { Log } from '../../kit/log.ts';
import type { RunningProgram, Runtime } from '../runtimes/runtime.ts';
import type { Resources } from './agent.ts';

/** A program that waits to be told who it is. */
export interface WarmProgram {
  /** The agent that it becomes: it was started under this id. */
  readonly agentId: string;
  readonly program: RunningProgram;
}

export interface WarmPoolOptions {
  readonly runtime: Runtime;
  readonly log: Log;
  /** Kept for each of these. */
  readonly perShape: number;
  /** What agents get that ask for nothing else; equal ones share a shelf. */
  readonly shapes: readonly Resources[];
}

const graceMs = 1_000;
const retryMs = 30_000;

/** Programs that have started before anybody asks for them, so that a spawn need not wait for it. */
export class WarmPool implements AsyncDisposable {
  readonly #options: WarmPoolOptions;
  readonly #shelves = new Map<string, WarmProgram[]>();
  readonly #shapes = new Map<string, Resources>();
  #filling: Promise<void> = Promise.resolve();
  #retry: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: WarmPoolOptions) {
    this.#options = options;
    if (options.perShape === 0) return;
    for (const shape of options.shapes) this.#shapes.set(keyOf(shape), shape);
  }

  /** Begins to fill it; nobody waits. */
  start(): void {
    this.#fill();
  }

  /** One that has these limits, if there is one; another takes its place. */
  take(resources: Resources): WarmProgram | undefined {
    const taken = this.#shelves.get(keyOf(resources))?.shift();
    if (taken) this.#fill();
    return taken;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    await this.#filling;
    const all = [...this.#shelves.values()].flat();
    this.#shelves.clear();
    await Promise.all(all.map(({ program }) => program.stop(graceMs)));
  }

  #fill(): void {
    this.#filling = this.#filling
      .then(() => this.#fillShelves())
      .catch((err: unknown) => {
        this.#options.log.warn({ err }, 'no agent can be kept warm');
        if (this.#isClosed) return;
        clearTimeout(this.#retry);
        this.#retry = setTimeout(() => this.#fill(), retryMs).unref();
      });
  }

  async #fillShelves(): Promise<void> {
    const { runtime, perShape } = this.#options;
    for (const [key, resources] of this.#shapes) {
      const shelf = this.#shelves.get(key) ?? [];
      this.#shelves.set(key, shelf);
      while (!this.#isClosed && shelf.length < perShape) {
        const agentId = newId('agt');
        const program = await runtime.start({ agentId, resources });
        const warm = { agentId, program };
        shelf.push(warm);
        void program.ended.then(() => this.#drop(shelf, warm));
      }
    }
  }

  /** One that ended on its shelf is replaced a while later: it may end again at once. */
  #drop(shelf: WarmProgram[], warm: WarmProgram): void {
    const at = shelf.indexOf(warm);
    if (at < 0 || this.#isClosed) return;
    shelf.splice(at, 1);
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => this.#fill(), retryMs).unref();
  }
}

function keyOf({ cpu, memory }: Resources): string {
  return `${cpu} ${memory}`;
}
