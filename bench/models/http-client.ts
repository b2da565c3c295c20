import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { nextMessage } from './orders.ts';
import type { ServiceAddress } from './ways/models-service.ts';

export interface Batch {
  /** Of each request, from its call to the end of its answer. */
  readonly tookMs: readonly number[];
  /** CPU time of the service's own process for all of them. */
  readonly cpuMs: number;
}

/**
 * Asks a service of models, which is in another process, over one connection that is kept, with nothing
 * but Node's own client. The owner disposes of it.
 */
export class HttpClient implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #address: ServiceAddress;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });

  private constructor(child: ChildProcess, address: ServiceAddress) {
    this.#child = child;
    this.#address = address;
  }

  static async start(modelPath: string): Promise<HttpClient> {
    const module = new URL('service-child.js', import.meta.url);
    const child = fork(module, [modelPath], { execArgv: ['--no-warnings'] });
    // The child is our own program.
    return new HttpClient(child, (await nextMessage(child)) as ServiceAddress);
  }

  /** Posts the same body so many times, one after another. */
  async postAll(path: string, body: unknown, count: number): Promise<Batch> {
    const json = JSON.stringify(body);
    const before = await this.#readCpuMs();
    const tookMs: number[] = [];
    for (let taken = 0; taken < count; taken++) {
      const from = performance.now();
      await this.#post(path, json);
      tookMs.push(performance.now() - from);
    }
    return { tookMs, cpuMs: (await this.#readCpuMs()) - before };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#agent.destroy();
    const exited = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.disconnect();
    await exited;
  }

  async #post(path: string, body: string): Promise<void> {
    const headers = {
      authorization: this.#address.authorization,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    };
    const asked = request(this.#address.url + path, {
      method: 'POST',
      agent: this.#agent,
      headers,
    });
    const answered = once(asked, 'response') as Promise<[IncomingMessage]>;
    asked.end(body);
    const [answer] = await answered;
    const said = await text(answer);
    if (answer.statusCode !== 200) throw new Error(`${answer.statusCode}: ${said}`);
  }

  async #readCpuMs(): Promise<number> {
    const answer = nextMessage(this.#child);
    this.#child.send('cpu');
    return (await answer) as number;
  }
}
