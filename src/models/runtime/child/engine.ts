import { basename } from 'node:path';
import {
  getLlama,
  InsufficientMemoryError,
  LlamaLogLevel,
  type ChatWrapper,
  type Llama,
  type LlamaContext,
  type LlamaContextSequence,
  type LlamaEmbeddingContext,
  type LlamaModel,
  type Token,
} from 'node-llama-cpp';
import { Fault } from '../../../kit/errors.ts';
import { Beat } from './beat.ts';
import { beginMarkOf } from './begin-mark.ts';
import { isOutOfTime, runBounded } from '../bounded.ts';
import { readChatFormat } from './chat-format.ts';
import { Gate } from './gate.ts';
import type { ChildSettings, LoadedModel, ModelKey } from '../protocol.ts';
import { SequencePool } from './sequence-pool.ts';

/** A loaded model that writes. */
export interface GenerativeModel {
  readonly kind: 'generative';
  readonly llama: Llama;
  readonly model: LlamaModel;
  readonly context: LlamaContext;
  /** Formats chats by the file's own template; a plain format where it has none. */
  readonly wrapper: ChatWrapper;
  readonly pool: SequencePool;
  /** Every request asks it between two tokens. */
  readonly gate: Gate;
  /** Every request takes its steps by it. */
  readonly beat: Beat;
  readonly described: LoadedModel;
}

/** A loaded model that makes vectors. */
export interface EmbeddingModel {
  readonly kind: 'embedding';
  readonly model: LlamaModel;
  readonly context: LlamaEmbeddingContext;
  /** A text must have fewer tokens. */
  readonly contextTokens: number;
  readonly described: LoadedModel;
}

export type OpenModel = GenerativeModel | EmbeddingModel;

export interface ModelRequest {
  readonly key: ModelKey;
  readonly path: string;
  readonly kind: OpenModel['kind'];
}

type WriteLog = (level: 'warn' | 'error', message: string) => void;

/** Holds llama.cpp and its models; lives in the child process only. */
export class Engine {
  readonly #llama: Llama;
  readonly #settings: ChildSettings;
  readonly #models = new Map<ModelKey, Promise<OpenModel>>();
  /** Those whose chat template does not end: to find that out holds everybody up, so it is done once. */
  readonly #endless = new Set<ModelKey>();
  /** The memory of a model that leaves is needed by the next one. */
  readonly #closing = new Set<Promise<unknown>>();

  private constructor(llama: Llama, settings: ChildSettings) {
    this.#llama = llama;
    this.#settings = settings;
  }

  /** Loads the native library; never compiles or downloads one. */
  static async create(settings: ChildSettings, log: WriteLog): Promise<Engine> {
    const llama = await getLlama({
      gpu: false,
      build: 'never',
      maxThreads: settings.threads,
      logLevel: LlamaLogLevel.warn,
      logger: (level, message) => log(level === LlamaLogLevel.warn ? 'warn' : 'error', message),
    });
    return new Engine(llama, settings);
  }

  isOpen(key: ModelKey): boolean {
    return this.#models.has(key);
  }

  /** Loads a model once, however many ask at a time. Fault `invalid` when the file is unusable. */
  async open({ key, path, kind }: ModelRequest): Promise<OpenModel> {
    if (this.#endless.has(key)) throw endlessFault();
    const open = this.#models.get(key) ?? this.#load(path, kind);
    this.#models.set(key, open);
    try {
      return await open;
    } catch (error) {
      this.#models.delete(key);
      if (isOutOfTime(error)) this.#endless.add(key);
      throw toLoadFault(error);
    }
  }

  /** Frees a model. No request may hold one of its sequences. */
  async close(key: ModelKey): Promise<void> {
    const open = this.#models.get(key);
    this.#models.delete(key);
    if (!open) return;
    const closing = dispose(open);
    this.#closing.add(closing);
    await closing.finally(() => this.#closing.delete(closing));
  }

  async #load(path: string, kind: OpenModel['kind']): Promise<OpenModel> {
    await Promise.allSettled(this.#closing);
    const startedAt = performance.now();
    const model = await this.#llama.loadModel({ modelPath: path });
    try {
      if (kind === 'embedding') return await this.#openEmbedding(model, path, startedAt);
      const wrapper = runBounded(() => readChatFormat(model), this.#settings.templateMs);
      const context = await this.#createContext(model);
      const sequences = Array.from({ length: context.totalSequences }, () => context.getSequence());
      const mark = beginMarkOf(model);
      if (mark !== undefined) await readBeginMark(sequences, mark);
      return {
        kind,
        llama: this.#llama,
        model,
        context,
        wrapper,
        pool: new SequencePool(sequences, mark),
        gate: new Gate(),
        beat: new Beat(),
        described: describe(model, { path, contextTokens: context.contextSize, startedAt }),
      };
    } catch (error) {
      await model.dispose();
      throw error;
    }
  }

  async #openEmbedding(
    model: LlamaModel,
    path: string,
    startedAt: number,
  ): Promise<EmbeddingModel> {
    const contextTokens = Math.min(this.#settings.contextTokensMax, model.trainContextSize);
    // An encoder reads a whole text in one batch.
    const context = await model.createEmbeddingContext({
      contextSize: contextTokens,
      batchSize: contextTokens,
      threads: this.#threads,
    });
    const described = describe(model, { path, contextTokens, startedAt });
    return { kind: 'embedding', model, context, contextTokens, described };
  }

  async #createContext(model: LlamaModel): Promise<LlamaContext> {
    const { parallel, contextTokensMax } = this.#settings;
    const max = Math.min(contextTokensMax, model.trainContextSize);
    return model.createContext({
      sequences: parallel,
      contextSize: { max },
      threads: this.#threads,
      // Fewer passes over the keys and values: a fifth of the time of a small model in a full batch.
      flashAttention: 'auto',
    });
  }

  get #threads(): number {
    return Math.min(this.#settings.threads, Math.max(1, this.#llama.cpuMathCores));
  }
}

/** Alone in each sequence, so that every prompt finds the very same, whoever read it first. */
async function readBeginMark(
  sequences: readonly LlamaContextSequence[],
  mark: Token,
): Promise<void> {
  for (const sequence of sequences) await sequence.evaluateWithoutGeneratingNewTokens([mark]);
}

async function dispose(open: Promise<OpenModel>): Promise<void> {
  const { context, model } = await open;
  await context.dispose();
  await model.dispose();
}

interface Described {
  readonly path: string;
  readonly contextTokens: number;
  readonly startedAt: number;
}

function describe(model: LlamaModel, { path, contextTokens, startedAt }: Described): LoadedModel {
  return {
    path,
    name: model.fileInfo.metadata.general.name ?? basename(path),
    architecture: model.architecture,
    sizeBytes: model.size,
    contextTokens,
    loadMs: performance.now() - startedAt,
  };
}

function toLoadFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  if (error instanceof InsufficientMemoryError)
    return new Fault('unavailable', 'not enough memory for this model', { cause: error });
  if (isOutOfTime(error)) return endlessFault(error);
  const reason = 'bad_model_file';
  return new Fault('invalid', 'the model file cannot be loaded', { cause: error, reason });
}

function endlessFault(cause?: unknown): Fault {
  const message = 'the model file cannot be loaded: its chat template does not end';
  return new Fault('invalid', message, { cause, reason: 'bad_model_file' });
}
