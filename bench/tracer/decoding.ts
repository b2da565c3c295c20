import { MeasuredChild } from '../harness/measured-child.ts';
import type { SlicesOptions } from './exports.ts';

/** Ways to read an export; see `decode-child.ts`. */
export type Way = 'scan' | 'inflate-scan' | 'protobufjs';

interface Hello {
  readonly exports: number;
  readonly spans: number;
}

/** Reads exports and does nothing else, in a process of its own. The owner disposes of it. */
export class Decoding implements AsyncDisposable {
  readonly #child: MeasuredChild<Hello>;

  private constructor(child: MeasuredChild<Hello>) {
    this.#child = child;
  }

  /** Starts with the exports that these options make. */
  static async start(way: Way, options: SlicesOptions): Promise<Decoding> {
    const module = new URL('decode-child.js', import.meta.url);
    return new Decoding(await MeasuredChild.start<Hello>(module, [way, JSON.stringify(options)]));
  }

  /** Reads at least so many spans; answers how many it reads in a second of CPU time. */
  async spansPerCpuSecond(spans: number): Promise<number> {
    const { hello } = this.#child;
    const passes = Math.ceil(spans / hello.spans);
    const micros = await this.#child.cpuMicrosPerOperation(passes * hello.exports);
    return (1e6 * hello.spans) / (micros * hello.exports);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#child[Symbol.asyncDispose]();
  }
}
