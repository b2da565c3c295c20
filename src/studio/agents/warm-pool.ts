import { newId } from '../../kit/ids.ts';
import type { Log } from '../../kit/log.ts';
import type { RunningProgram, Runtime } from '../runtimes/runtime.ts';
import type { Resources } from './agent.ts';
import type { AgentKey } from './credentials.ts';
import type { SpareKeys } from './spare-keys.ts';

/** A program that waits to be told who it is. */
export interface WarmProgram {
  /** The agent that it becomes: it was started under this id. */
  readonly agentId: string;
  readonly program: RunningProgram;
  /** With which it has logged in; absent as long as auth made none. */
  readonly key?: AgentKey;
}

export interface WarmPoolOptions {
  readonly runtime: Runtime;
  readonly log: Log;
  readonly keys: SpareKeys;
  /** Of auth, as programs see it. */
  readonly authUrl: string;
  /** Kept for each of these. */
  readonly perShape: number;
  /** What agents get that ask for nothing else; equal ones share a shelf. */
  readonly shapes: readonly Resources[];
}

/** Its key comes later than itself. */
interface Shelved extends Omit<WarmProgram, 'key'> {
  key?: AgentKey;
}

const graceMs = 1_000;
const retryMs = 30_000;
const tendMs = 60_000;

/** Programs that have started before anybody asks for them, so that a spawn need not wait for it. */
export class WarmPool implements AsyncDisposable {
  readonly #options: WarmPoolOptions;
  readonly #shelves = new Map<string, Shelved[]>();
  readonly #shapes = new Map<string, Resources>();
  #filling: Promise<void> = Promise.resolve();
  #retry: NodeJS.Timeout | undefined;
  #tending: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: WarmPoolOptions) {
    this.#options = options;
    if (options.perShape === 0) return;
    for (const shape of options.shapes) this.#shapes.set(keyOf(shape), shape);
  }

  /** Begins to fill it; nobody waits. */
  start(): void {
    this.#fill();
    this.#tending = setInterval(() => void this.#tend(), tendMs).unref();
  }

  /** One that has these limits, if there is one; another takes its place. */
  take(resources: Resources): WarmProgram | undefined {
    const shelf = this.#shelves.get(keyOf(resources)) ?? [];
    const at = Math.max(
      0,
      shelf.findIndex(({ key }) => key),
    );
    const [taken] = shelf.splice(at, 1);
    if (taken) this.#fill();
    return taken;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    clearInterval(this.#tending);
    await this.#filling;
    const all = [...this.#shelves.values()].flat();
    this.#shelves.clear();
    await Promise.all(all.map((warm) => this.#end(warm)));
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
        await this.#giveKey(shelf, warm);
      }
    }
  }

  /** One that is taken before, or while auth is away, gets a key when it is told who it is. */
  async #giveKey(shelf: readonly Shelved[], warm: Shelved): Promise<void> {
    const { keys, authUrl, log } = this.#options;
    if (!warm.program.prepare) return;
    try {
      const key = await keys.create(warm.agentId);
      if (!shelf.includes(warm)) return await keys.revoke(key.keyId);
      warm.program.prepare({ apiKey: key.apiKey, authUrl });
      warm.key = key;
    } catch (err) {
      log.warn({ err }, 'a warm program has no key for now');
    }
  }

  /** Ends those whose key others have revoked: this machine slept, and was taken for dead. */
  async #tend(): Promise<void> {
    const { keys, log } = this.#options;
    try {
      const held = [...this.#shelves.values()].flatMap((shelf) =>
        shelf.map(({ key, program }) => ({ key, program })),
      );
      const good = await keys.renew();
      for (const { key, program } of held) {
        if (key && !good.has(key.keyId)) await program.stop(graceMs);
      }
    } catch (err) {
      log.warn({ err }, 'the keys of warm programs could not be looked after');
    }
  }

  async #end({ program, key }: WarmProgram): Promise<void> {
    await Promise.all([program.stop(graceMs), key && this.#options.keys.revoke(key.keyId)]);
  }

  /** One that ended on its shelf is replaced a while later: it may end again at once. */
  #drop(shelf: Shelved[], warm: Shelved): void {
    const at = shelf.indexOf(warm);
    if (at < 0 || this.#isClosed) return;
    shelf.splice(at, 1);
    if (warm.key) void this.#options.keys.revoke(warm.key.keyId);
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => this.#fill(), retryMs).unref();
  }
}

function keyOf({ cpu, memory }: Resources): string {
  return `${cpu} ${memory}`;
}
