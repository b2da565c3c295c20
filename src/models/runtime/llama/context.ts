import * as koffi from 'koffi';
import { CandidateRoom } from './candidates.ts';
import type { Library } from './library.ts';
import type { Model } from './model.ts';
import type { Candidates, Pointer } from './structs.ts';
import { TokenBatch } from './token-batch.ts';
import { runOnThread } from './thread.ts';

export interface ContextOptions {
  readonly sequences: number;
  /** Of each sequence. */
  readonly contextTokens: number;
  /** How many are evaluated together at most. */
  readonly batchTokens: number;
  readonly threads: number;
  /** For vectors in place of tokens. */
  readonly makesVectors: boolean;
}

/** A batch that takes longer than that keeps nobody waiting: it is evaluated on a thread of its own. */
const inPlaceMsMax = 50;
const floatBytes = 4;
/** llama.cpp rounds contexts up to a multiple of that anyway. */
const contextStep = 256;

/** What a model remembers of its sequences, and the threads that it works with. The owner disposes of it. */
export class Context implements Disposable {
  readonly batch: TokenBatch;
  readonly #model: Model;
  readonly #address: Pointer;
  readonly #pool: Pointer;
  /** Undefined for models that remember nothing from batch to batch. */
  readonly #memory: Pointer | undefined;
  #candidates: CandidateRoom | undefined;
  /** What a token of the last batch of each kind took; the first ones may take any time. */
  readonly #msPerToken = { written: Number.POSITIVE_INFINITY, read: Number.POSITIVE_INFINITY };
  readonly #sequences: number;

  private constructor(model: Model, address: Pointer, options: ContextOptions) {
    const { library } = model;
    this.#model = model;
    this.#address = address;
    this.#sequences = options.sequences;
    this.batch = new TokenBatch(options.batchTokens);
    this.#memory = library.contextMemory(address) ?? undefined;
    // Without threads that stay, each batch would start its own.
    this.#pool = library.threadPoolNew(library.threadPoolDefaultParams(options.threads));
    library.attachThreadPool(address, this.#pool, null);
  }

  /** Throws when there is not enough memory for it. */
  static async open(model: Model, options: ContextOptions): Promise<Context> {
    const { library } = model;
    const { sequences, batchTokens, threads, makesVectors } = options;
    const contextTokens = Math.ceil(options.contextTokens / contextStep) * contextStep;
    const params = {
      ...library.contextDefaultParams(),
      n_ctx: contextTokens * sequences,
      n_batch: batchTokens,
      n_ubatch: batchTokens,
      n_seq_max: sequences,
      n_threads: threads,
      n_threads_batch: threads,
      embeddings: makesVectors,
      no_perf: true,
      swa_full: false,
    };
    const address = await runOnThread(library.contextInit, model.address, params);
    if (address === null) throw new OutOfMemoryError();
    return new Context(model, address, options);
  }

  get #library(): Library {
    return this.#model.library;
  }

  get address(): Pointer {
    return this.#address;
  }

  /** How many tokens a sequence may have. */
  get sequenceTokens(): number {
    return this.#library.sequenceTokens(this.#address);
  }

  /**
   * Evaluates the batch. Nothing else may be asked of the context meanwhile, and `batch` not be touched.
   * Throws when it fails; what its sequences hold then is unknown.
   */
  decode(): Promise<void> | undefined {
    const { size, struct } = this.batch;
    const startedAt = performance.now();
    const kind = size > this.#sequences ? 'read' : 'written';
    const settle = (code: number) => {
      this.#msPerToken[kind] = (performance.now() - startedAt) / size;
      if (code !== 0) throw new Error(`llama_decode answered ${code}`);
    };
    if (size * this.#msPerToken[kind] > inPlaceMsMax)
      return runOnThread(this.#library.decode, this.#address, struct).then(settle);
    settle(this.#library.decode(this.#address, struct));
    return undefined;
  }

  /** Takes out of a sequence what stands there from a position on. */
  forget(sequence: number, from: number): void {
    if (this.#memory !== undefined) this.#library.memoryRemove(this.#memory, sequence, from, -1);
  }

  /** The logit of each token, by the result at a place of the batch; valid until the next batch. */
  logitsAt(place: number): Float32Array {
    const logits = this.#library.logitsAt(this.#address, place);
    if (logits === null) throw new Error(`llama.cpp has no result at ${place}`);
    return new Float32Array(koffi.view(logits, this.#model.vocabulary.size * floatBytes));
  }

  /** All tokens with their logits, to choose from; valid until asked again. */
  candidatesAt(place: number): Candidates {
    this.#candidates ??= new CandidateRoom(this.#model.vocabulary.size);
    return this.#candidates.fill(this.logitsAt(place));
  }

  /** The vector of the text that the batch was: of the whole where the model says so, else of its last token. */
  vector(): Float32Array {
    const isPooled = this.#library.contextPooling(this.#address) !== poolingNone;
    const pooled = isPooled ? this.#library.embeddingsOf(this.#address, 0) : null;
    const address = pooled ?? this.#library.embeddingsAt(this.#address, -1);
    if (address === null) throw new Error('llama.cpp has made no vector');
    const { vectorSize } = this.#model;
    return new Float32Array(koffi.view(address, vectorSize * floatBytes)).slice();
  }

  [Symbol.dispose](): void {
    this.#library.contextFree(this.#address);
    this.#library.threadPoolFree(this.#pool);
    this.#candidates?.[Symbol.dispose]();
    this.batch[Symbol.dispose]();
  }
}

/** `LLAMA_POOLING_TYPE_NONE`. */
const poolingNone = 0;

/** There is not enough memory for a context. */
export class OutOfMemoryError extends Error {
  override readonly name = 'OutOfMemoryError';
}
