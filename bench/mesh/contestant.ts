import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { IssuedIdentity } from '../../src/mesh/certificates/renewed-identity.ts';
import { connections, Load, type Shot } from '../harness/load.ts';
import { MeasuredChild } from '../harness/measured-child.ts';

interface Hello {
  readonly url: string;
}

/** What the parent learns of our process. */
export interface OursHello extends Hello {
  /** Of 64 subjects; the first owns the agents. */
  readonly tokens: readonly string[];
  readonly grpcPort: number;
  /** A certificate for servers beside the mesh. */
  readonly server: IssuedIdentity;
  /** A certificate of an agent. */
  readonly client: IssuedIdentity;
}

/** What is said under each figure that was taken with the load's connections. */
export const underLoad = `${connections} connections`;

/** An HTTP server in a process of its own, with the load that is fired at it. */
export class Contestant<H extends Hello = Hello> implements AsyncDisposable {
  readonly hello: H;
  readonly load: Load;
  readonly #child: MeasuredChild<H>;
  readonly #folder: string | undefined;

  private constructor(
    child: MeasuredChild<H>,
    { tokens = [''], size = connections, folder }: ContestantOptions,
  ) {
    this.#child = child;
    this.hello = child.hello;
    this.#folder = folder;
    this.load = new Load(child.hello.url, tokens, size);
  }

  /** The mesh, with 10,000 agents when it is `full`. */
  static async ours(content: 'full' | 'empty', size?: number): Promise<Contestant<OursHello>> {
    const folder = await mkdtemp(join(tmpdir(), 'ennead-bench-mesh-'));
    const module = new URL('ours-child.js', import.meta.url);
    const child = await MeasuredChild.start<OursHello>(module, [folder, content]);
    return new Contestant(child, { tokens: child.hello.tokens, folder, size });
  }

  /** A server that answers a text: node:http alone, or Fastify. */
  static async limit(kind: 'bare' | 'fastify', text: string, size?: number): Promise<Contestant> {
    const module = new URL('limit-child.js', import.meta.url);
    return new Contestant(await MeasuredChild.start<Hello>(module, [kind, text]), { size });
  }

  /** The gateway's bare pass-through, to another server. */
  static async passThrough(url: string): Promise<Contestant> {
    const module = new URL('../gateway/limit-child.js', import.meta.url);
    return new Contestant(await MeasuredChild.start<Hello>(module, ['bare', url]), {});
  }

  /** CPU time of the process during some work, in microseconds. */
  async cpuMicrosOf(work: () => Promise<unknown>): Promise<number> {
    const before = await this.#child.cpuMicros();
    await work();
    return (await this.#child.cpuMicros()) - before;
  }

  /** CPU time per request, each shot in its turn. */
  async cpuMicrosPerShot(shotOf: (turn: number) => Shot, times: number): Promise<number> {
    const step = (turn: number) => this.load.send(shotOf(turn), turn);
    return (await this.cpuMicrosOf(() => this.load.repeat(step, times))) / times;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.load[Symbol.asyncDispose]();
    await this.#child[Symbol.asyncDispose]();
    if (this.#folder) await rm(this.#folder, { recursive: true, force: true });
  }
}

interface ContestantOptions {
  readonly tokens?: readonly string[];
  readonly size?: number | undefined;
  /** Goes when the process has ended. */
  readonly folder?: string;
}
