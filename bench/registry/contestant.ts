import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Load, type Shot } from '../harness/load.ts';
import { MeasuredChild, type Memory } from '../harness/measured-child.ts';

interface Hello {
  readonly url: string;
}

/** What the parent learns of our process. */
export interface OursHello extends Hello {
  /** Of 64 subjects. */
  readonly tokens: readonly string[];
}

/** An HTTP server in a process of its own, with the load that is fired at it. */
export class Contestant implements AsyncDisposable {
  readonly url: string;
  readonly tokens: readonly string[];
  readonly load: Load;
  readonly #child: MeasuredChild;
  readonly #folder: string | undefined;

  private constructor(child: MeasuredChild<Hello>, tokens: readonly string[], folder?: string) {
    this.#child = child;
    this.#folder = folder;
    this.url = child.hello.url;
    this.tokens = tokens;
    this.load = new Load(this.url, tokens);
  }

  /** The registry, without connections. */
  static async ours(): Promise<Contestant> {
    const folder = await mkdtemp(join(tmpdir(), 'ennead-bench-registry-'));
    const module = new URL('ours-child.js', import.meta.url);
    const child = await MeasuredChild.start<OursHello>(module, [folder]);
    return new Contestant(child, child.hello.tokens, folder);
  }

  /** A server that answers a text: node:http alone, or Fastify. */
  static async limit(kind: 'bare' | 'fastify', text: string): Promise<Contestant> {
    const module = new URL('../mesh/limit-child.js', import.meta.url);
    return new Contestant(await MeasuredChild.start<Hello>(module, [kind, text]), ['']);
  }

  /** CPU time that the process has used since it began, in microseconds. */
  cpuMicros(): Promise<number> {
    return this.#child.cpuMicros();
  }

  /** CPU time per request, each shot in its turn. */
  async cpuMicrosPerShot(shotOf: (turn: number) => Shot, times: number): Promise<number> {
    const before = await this.#child.cpuMicros();
    await this.load.repeat((turn) => this.load.send(shotOf(turn), turn), times);
    return ((await this.#child.cpuMicros()) - before) / times;
  }

  /** What it holds when what was begun is written. */
  async settledMemory(): Promise<Memory> {
    await sleep(3_000);
    return this.#child.memory();
  }

  /** Registers a connection and answers its id. */
  async register(body: object): Promise<string> {
    const answer = await this.load.send({
      method: 'POST',
      path: '/connections',
      body: JSON.stringify(body),
      status: 201,
    });
    return (JSON.parse(answer) as { readonly id: string }).id;
  }

  /** Registers so many, several at once. */
  async registerAll(bodyOf: (at: number) => object, count: number): Promise<void> {
    const step = (turn: number) => this.register(bodyOf(turn - 1));
    await this.load.repeat(step, count, { isCalm: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.load[Symbol.asyncDispose]();
    await this.#child[Symbol.asyncDispose]();
    if (this.#folder) await rm(this.#folder, { recursive: true, force: true });
  }
}
