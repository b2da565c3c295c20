import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '../../src/kit/testing.ts';
import { awake, connections } from '../harness/load.ts';
import { agentCount, queryOf, registrationOf } from './agents.ts';
import type { PeerClient } from './peer-client.ts';

const waitMs = 20_000;
const lookupScript = `return redis.call('MGET', unpack(redis.call('SRANDMEMBER', KEYS[1], ARGV[1])))`;

/** Redis, written to disk after every command: an agent is a text, a capability a set of keys. */
export class Redis implements PeerClient {
  readonly lookup = 'ten random members of a set and their texts, RESP';
  readonly put = 'SET, RESP, appendfsync always';
  readonly #port: number;
  #lines: Line[] = [];
  #storedCount = 0;

  private constructor(port: number) {
    this.#port = port;
  }

  /** Chooses a port and says how to start the server that listens there. */
  static async open(folder: string) {
    const port = await findFreePort();
    const options = { port, bind: '127.0.0.1', dir: folder, save: '' };
    const durable = { appendonly: 'yes', appendfsync: 'always' };
    const args = Object.entries({ ...options, ...durable }).flatMap(([name, value]) => [
      `--${name}`,
      String(value),
    ]);
    return { client: new Redis(port), args };
  }

  async start(): Promise<void> {
    const until = Date.now() + waitMs;
    for (;;) {
      try {
        const opened = Array.from({ length: connections }, () => Line.open(this.#port));
        this.#lines = await Promise.all(opened);
        return;
      } catch (error) {
        if (Date.now() > until) throw error;
        await sleep(50);
      }
    }
  }

  async fill(): Promise<void> {
    await this.#repeat(async (line, turn) => {
      const agent = registrationOf(`agent-${turn}`, turn);
      await line.ask(['SET', agent.agentId, textOf(agent)]);
      for (const name of agent.capabilities) await line.ask(['SADD', name, agent.agentId]);
    }, agentCount);
  }

  look(times: number): Promise<void> {
    return this.#repeat((line, turn) => {
      const { capabilities, limit } = queryOf(turn);
      return line.ask(['EVAL', lookupScript, '1', ...capabilities, String(limit)]);
    }, times);
  }

  store(times: number): Promise<void> {
    const first = this.#storedCount;
    this.#storedCount += times;
    return this.#repeat((line, turn) => {
      const agent = registrationOf(`stored-${first + turn}`, turn);
      return line.ask(['SET', agent.agentId, textOf(agent)]);
    }, times);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const line of this.#lines) line.end();
  }

  async #repeat(
    step: (line: Line, turn: number) => Promise<unknown>,
    times: number,
  ): Promise<void> {
    let taken = 0;
    const work = async (line: Line) => {
      while (taken < times) {
        taken += 1;
        await step(line, taken);
      }
    };
    await awake(() => Promise.all(this.#lines.map(work)));
  }
}

/** A connection with one command under way at a time. */
class Line {
  readonly #socket: Socket;
  #text = '';
  #settle: ((error?: Error) => void) | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket.setNoDelay().setEncoding('latin1');
    socket.on('data', (text) => this.#take(String(text)));
    socket.on('error', (error) => this.#settle?.(error));
  }

  static async open(port: number): Promise<Line> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return new Line(socket);
  }

  ask(words: readonly string[]): Promise<void> {
    const parts = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`);
    this.#text = '';
    return new Promise((resolve, reject) => {
      this.#settle = (error) => (error ? reject(error) : resolve());
      this.#socket.write(`*${words.length}\r\n${parts.join('')}`);
    });
  }

  end(): void {
    this.#socket.destroy();
  }

  #take(text: string): void {
    this.#text += text;
    if (this.#text.startsWith('-')) this.#settle?.(new Error(`redis: ${this.#text}`));
    else if (isWhole(this.#text)) this.#settle?.();
  }
}

/** Whether a reply is complete: a line, a number, or a list of texts (RESP 2). */
function isWhole(text: string): boolean {
  let at = text.indexOf('\r\n') + 2;
  if (at < 2) return false;
  if (!text.startsWith('*')) return true;
  for (let left = Number(text.slice(1, at - 2)); left > 0; left -= 1) {
    const end = text.indexOf('\r\n', at);
    if (end < 0) return false;
    at = end + 2 + Math.max(0, Number(text.slice(at + 1, end))) + 2;
    if (text.length < at) return false;
  }
  return true;
}

function textOf(agent: object): string {
  return JSON.stringify({ ...agent, load: 0, status: 'active' });
}
