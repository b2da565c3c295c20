import * as koffi from 'koffi';
import type { Token } from 'node-llama-cpp';
import type { Candidates, Pointer } from './structs.ts';

/** A token, its logit and its probability, each of 32 bits (`llama_token_data`). */
const fields = 3;
const fieldBytes = 4;

/** Room for tokens to choose from, in native memory. The owner disposes of it. */
export class CandidateRoom implements Disposable {
  readonly #address: Pointer;
  readonly #integers: Int32Array;
  readonly #floats: Float32Array;

  constructor(size: number) {
    this.#address = koffi.alloc('int32_t', size * fields) as Pointer;
    const memory = koffi.view(this.#address, size * fields * fieldBytes);
    this.#integers = new Int32Array(memory);
    this.#floats = new Float32Array(memory);
  }

  /** All tokens of a vocabulary, each with its logit. */
  fill(logits: Float32Array): Candidates {
    for (let token = 0; token < logits.length; token++) this.#put(token, token, logits[token] ?? 0);
    return this.#list(logits.length);
  }

  /** One token alone, as good as any. */
  fillOne(token: Token): Candidates {
    this.#put(0, token, 1);
    return this.#list(1);
  }

  /** Whether the first one has been ruled out. */
  get isFirstRuledOut(): boolean {
    return this.#floats[1] === -Infinity;
  }

  [Symbol.dispose](): void {
    koffi.free(this.#address);
  }

  #put(at: number, token: number, logit: number): void {
    this.#integers[at * fields] = token;
    this.#floats[at * fields + 1] = logit;
    this.#floats[at * fields + 2] = 0;
  }

  #list(size: number): Candidates {
    return { data: this.#address, size, selected: -1, sorted: false };
  }
}

/** The token that was chosen; undefined for none, as when all are ruled out. */
export function chosenOf({ data, size, selected }: Candidates): Token | undefined {
  if (selected < 0 || selected >= size) return undefined;
  const at = selected * fields * fieldBytes;
  const logit = koffi.decode(data, at + fieldBytes, 'float') as number;
  return logit === -Infinity ? undefined : (koffi.decode(data, at, 'int32_t') as Token);
}
