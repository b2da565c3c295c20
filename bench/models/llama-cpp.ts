import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { processEnvironment } from '../../src/kit/config.ts';
import type { Account, Order } from './orders.ts';
import { threads } from './ways/way.ts';

/** What is said in place of the figures of llama.cpp. */
export const llamaCppMissing = 'llama.cpp is skipped: LLAMA_CPP_BIN is not set';

/** A program of llama.cpp; undefined while nobody says where they are. */
export function llamaCppProgram(name: string): string | undefined {
  const folder = processEnvironment()['LLAMA_CPP_BIN'];
  return folder ? join(folder, name) : undefined;
}

/** llama.cpp's own measurement: one sequence, no text, no sampling. Its CPU time is not known. */
export class LlamaBench {
  readonly #program: string;
  readonly #modelPath: string;

  constructor(program: string, modelPath: string) {
    this.#program = program;
    this.#modelPath = modelPath;
  }

  /** Writes so many tokens, or reads so many when only one is to be written. */
  async carryOut({ promptWords, answerTokens }: Order): Promise<Account> {
    const isReading = answerTokens === 1;
    const tokens = isReading ? promptWords : answerTokens;
    const counts = isReading ? ['-p', promptWords, '-n', 0] : ['-p', 0, '-n', answerTokens];
    const fixed = ['-m', this.#modelPath, '-t', threads, '-r', 1, '-o', 'json'];
    const { stdout } = await promisify(execFile)(this.#program, [...fixed, ...counts].map(String));
    // A figure of another shape shows as NaN.
    const [figure] = JSON.parse(stdout) as { readonly avg_ts: number }[];
    return {
      wallMs: (tokens / (figure?.avg_ts ?? Number.NaN)) * 1000,
      promptTokens: tokens,
      answerTokens: tokens,
      firstMs: [],
      tookMs: [],
      cpuMs: Number.NaN,
      modelCpuMs: Number.NaN,
      memoryBytes: Number.NaN,
    };
  }
}
