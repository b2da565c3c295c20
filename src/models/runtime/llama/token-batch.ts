import * as koffi from 'koffi';
import type { Token } from 'node-llama-cpp';
import type { BatchStruct, Pointer } from './structs.ts';

export interface BatchEntry {
  readonly token: Token;
  /** Its place in the sequence. */
  readonly position: number;
  readonly sequence: number;
  /** Whether its result is asked for. */
  readonly isWanted: boolean;
}

const wordBytes = 4;
const addressBytes = 8;

/** Tokens of several sequences that are evaluated together (`llama_batch`). The owner disposes of it. */
export class TokenBatch implements Disposable {
  readonly capacity: number;
  readonly #struct: BatchStruct;
  readonly #sequenceRoom: Pointer;
  readonly #tokens: Int32Array;
  readonly #positions: Int32Array;
  readonly #sequences: Int32Array;
  readonly #wanted: Int8Array;

  constructor(capacity: number) {
    this.capacity = capacity;
    const words = () => koffi.alloc('int32_t', capacity) as Pointer;
    this.#sequenceRoom = words();
    this.#struct = {
      n_tokens: 0,
      token: words(),
      embd: null,
      pos: words(),
      n_seq_id: words(),
      seq_id: koffi.alloc('uint64_t', capacity) as Pointer,
      logits: koffi.alloc('int8_t', capacity) as Pointer,
    };
    const { token, pos, n_seq_id: counts, seq_id: addresses, logits } = this.#struct;
    const wordsAt = (at: Pointer) => new Int32Array(koffi.view(at, capacity * wordBytes));
    this.#tokens = wordsAt(token);
    this.#positions = wordsAt(pos);
    this.#sequences = wordsAt(this.#sequenceRoom);
    this.#wanted = new Int8Array(koffi.view(logits, capacity));
    // Each token belongs to one sequence.
    wordsAt(counts).fill(1);
    const addressList = new BigUint64Array(koffi.view(addresses, capacity * addressBytes));
    for (let at = 0; at < capacity; at++)
      addressList[at] = this.#sequenceRoom + BigInt(at * wordBytes);
  }

  get size(): number {
    return this.#struct.n_tokens;
  }

  get struct(): BatchStruct {
    return this.#struct;
  }

  clear(): void {
    this.#struct.n_tokens = 0;
  }

  /** Adds a token, and answers its place. The caller knows the capacity. */
  add({ token, position, sequence, isWanted }: BatchEntry): number {
    const place = this.#struct.n_tokens++;
    this.#tokens[place] = token;
    this.#positions[place] = position;
    this.#sequences[place] = sequence;
    this.#wanted[place] = Number(isWanted);
    return place;
  }

  [Symbol.dispose](): void {
    const { token, pos, n_seq_id: counts, seq_id: addresses, logits } = this.#struct;
    for (const memory of [token, pos, counts, addresses, logits, this.#sequenceRoom])
      koffi.free(memory);
  }
}
