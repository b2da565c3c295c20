import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connections, Load, type Shot } from '../harness/load.ts';
import { MeasuredChild, type Memory } from '../harness/measured-child.ts';
import { chunks, completion } from './exchange.ts';

interface Hello {
  readonly url: string;
}

/** What the parent learns of our process. */
export interface OursHello extends Hello {
  readonly tokens: readonly string[];
}

interface DoorOptions {
  /** What its clients must say besides. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Goes when the process has ended. */
  readonly folder?: string;
}

/** Something that answers chats, in a process of its own, with the load that is fired at it. */
export class Door implements AsyncDisposable {
  readonly url: string;
  readonly load: Load;
  readonly #token: string;
  readonly #options: DoorOptions;
  readonly #child: MeasuredChild<Hello>;

  private constructor(child: MeasuredChild<Hello>, options: DoorOptions) {
    this.#child = child;
    this.#options = options;
    this.url = child.hello.url;
    const { tokens = ['sk-bench'] } = child.hello as Partial<OursHello>;
    this.#token = tokens[0] ?? '';
    this.load = new Load(child.hello.url, tokens);
  }

  static upstream(): Promise<Door> {
    return Door.#start('upstream', []);
  }

  static bare(upstream: Door): Promise<Door> {
    return Door.#start('limit', ['bare', upstream.url]);
  }

  static noop(): Promise<Door> {
    return Door.#start('limit', ['noop']);
  }

  static async ours(upstream: Door): Promise<Door> {
    const folder = await mkdtemp(join(tmpdir(), 'ennead-bench-gateway-'));
    return Door.#start('ours', [upstream.url, folder], { folder });
  }

  static portkey(upstream: Door): Promise<Door> {
    const headers = {
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': `${upstream.url}/v1`,
    };
    return Door.#start('portkey', [], { headers });
  }

  static async #start(
    kind: string,
    args: readonly string[],
    options: DoorOptions = {},
  ): Promise<Door> {
    const module = new URL(`${kind}-child.js`, import.meta.url);
    return new Door(await MeasuredChild.start<Hello>(module, args), options);
  }

  /** The process's CPU time per request, in microseconds; the load runs in this process. */
  async cpuMicrosPerRequest(shot: Shot, requests: number): Promise<number> {
    const before = await this.#child.cpuMicros();
    await this.load.fire(this.#own(shot), requests);
    return ((await this.#child.cpuMicros()) - before) / requests;
  }

  /** Sends one request and answers the body; rejects unless it is a 200. */
  send(shot: Shot, turn = 0): Promise<string> {
    return this.load.send(this.#own(shot), turn);
  }

  /** The head of the answer to one request. */
  async headers({ method, path, body }: Shot): Promise<Readonly<Record<string, string>>> {
    const headers = { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json' };
    const answer = await fetch(this.url + path, { method, headers, body: body ?? null });
    await answer.arrayBuffer();
    return Object.fromEntries(answer.headers);
  }

  /** What the process holds once its garbage is collected. */
  memory(): Promise<Memory> {
    return this.#child.memory();
  }

  /** Sends requests in turn, one on each connection at a time. */
  async repeat(shots: readonly Shot[], times: number): Promise<void> {
    const own = shots.map((shot) => this.#own(shot));
    const step = async (turn: number) => {
      const shot = own[turn % own.length];
      if (shot) await this.load.send(shot, turn);
    };
    await this.load.repeat(step, times);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.load[Symbol.asyncDispose]();
    await this.#child[Symbol.asyncDispose]();
    const { folder } = this.#options;
    if (folder) await rm(folder, { recursive: true, force: true });
  }

  #own(shot: Shot): Shot {
    return { ...shot, headers: this.#options.headers ?? {} };
  }
}

export const underLoad = `${connections} connections`;

/** A comparison is fair only between doors that give the upstream's answer. */
export async function requireAnswer(door: Door, shot: Shot): Promise<void> {
  const { choices } = JSON.parse(await door.send(shot)) as typeof parsed;
  const [choice] = choices;
  assert.equal(choice?.message.content, parsed.choices[0]?.message.content, door.url);
}

/** The same for streams. */
export async function requireStream(door: Door, shot: Shot): Promise<void> {
  const text = await door.send(shot);
  assert.equal(contentOf(text), contentOf(chunks.join('')), door.url);
  assert.match(text, /data: \[DONE\]\s*$/, door.url);
}

const parsed = JSON.parse(completion) as {
  readonly choices: readonly { readonly message: { readonly content: string } }[];
};

function contentOf(stream: string): string {
  return [...stream.matchAll(/"content": ?"([^"]*)"/g)].map(([, content]) => content).join('');
}
