import { basename } from 'node:path';
import { readGgufFileInfo, type ChatWrapper, type GgufFileInfo, type Token } from 'node-llama-cpp';
import { Fault } from '../../../kit/errors.ts';
import { isOutOfTime, runBounded } from '../bounded.ts';
import { Context, OutOfMemoryError } from '../llama/context.ts';
import { openLibrary, type Library, type WriteLog } from '../llama/library.ts';
import { Model } from '../llama/model.ts';
import { calculatingCores } from '../llama/processors.ts';
import type { ChildSettings, LoadedModel, ModelKey, ModelKind } from '../protocol.ts';
import { Batcher } from './batcher.ts';
import { readChatFormat } from './chat-format.ts';
import { Encoder } from './encoder.ts';
import { SequencePool } from './sequence-pool.ts';
import { Sequence } from './sequence.ts';

/** A loaded model that writes. */
export interface GenerativeModel {
  readonly kind: 'generative';
  readonly model: Model;
  readonly context: Context;
  /** Formats chats by the file's own template; a plain format where it has none. */
  readonly wrapper: ChatWrapper;
  readonly pool: SequencePool;
  readonly batcher: Batcher;
  readonly described: LoadedModel;
}

/** A loaded model that makes vectors. */
export interface EmbeddingModel {
  readonly kind: 'embedding';
  readonly model: Model;
  readonly context: Context;
  readonly encoder: Encoder;
  /** A text must have fewer tokens. */
  readonly contextTokens: number;
  readonly described: LoadedModel;
}

export type OpenModel = GenerativeModel | EmbeddingModel;

export interface ModelRequest {
  readonly key: ModelKey;
  readonly path: string;
  readonly kind: ModelKind;
}

/** Holds llama.cpp and its models; lives in the child process only. */
export class Engine {
  readonly #library: Library;
  readonly #settings: ChildSettings;
  readonly #models = new Map<ModelKey, Promise<OpenModel>>();
  /** Those whose chat template does not end: to find that out holds everybody up, so it is done once. */
  readonly #endless = new Set<ModelKey>();

  constructor(settings: ChildSettings, log: WriteLog) {
    this.#library = openLibrary(log);
    this.#settings = settings;
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
    const { context, model } = await open;
    context[Symbol.dispose]();
    model[Symbol.dispose]();
  }

  async #load(path: string, kind: ModelKind): Promise<OpenModel> {
    const startedAt = performance.now();
    const info = await readGgufFileInfo(path, { sourceType: 'filesystem', ignoreKeys: bulkyKeys });
    const model = await Model.load(this.#library, path);
    try {
      const opening = { path, info, model, startedAt };
      return await (kind === 'embedding' ? this.#openEncoder(opening) : this.#openWriter(opening));
    } catch (error) {
      model[Symbol.dispose]();
      throw error;
    }
  }

  async #openWriter(opening: Opening): Promise<GenerativeModel> {
    const { model, info, path } = opening;
    const { parallel, templateMs } = this.#settings;
    const file = { vocabulary: model.vocabulary, info, path };
    const wrapper = runBounded(() => readChatFormat(file), templateMs);
    const contextTokens = this.#contextTokensOf(model);
    const context = await Context.open(model, {
      sequences: parallel,
      contextTokens,
      batchTokens: Math.min(batchTokensMax, contextTokens * parallel),
      threads: this.#threads,
      makesVectors: false,
    });
    const sequences = Array.from({ length: parallel }, (_, i) => new Sequence(i, model));
    const mark = model.vocabulary.beginMark;
    if (mark !== undefined && model.canGoBack) await readBeginMark(context, sequences, mark);
    return {
      kind: 'generative',
      model,
      context,
      wrapper,
      pool: new SequencePool(sequences, mark),
      batcher: new Batcher(context),
      described: describe(opening, Math.min(context.sequenceTokens, trainedTokensOf(model))),
    };
  }

  async #openEncoder(opening: Opening): Promise<EmbeddingModel> {
    const { model } = opening;
    const contextTokens = this.#contextTokensOf(model);
    const context = await Context.open(model, {
      sequences: 1,
      contextTokens,
      // An encoder reads a whole text in one batch.
      batchTokens: contextTokens,
      threads: this.#threads,
      makesVectors: true,
    });
    const encoder = new Encoder(context, model.vocabulary);
    const described = describe(opening, contextTokens);
    return { kind: 'embedding', model, context, encoder, contextTokens, described };
  }

  #contextTokensOf(model: Model): number {
    return Math.min(this.#settings.contextTokensMax, trainedTokensOf(model));
  }

  get #threads(): number {
    return Math.min(this.#settings.threads, calculatingCores());
  }
}

/** Alone in each sequence, so that every prompt finds the very same, whoever read it first. */
async function readBeginMark(
  context: Context,
  sequences: readonly Sequence[],
  mark: Token,
): Promise<void> {
  for (const { number, tokens } of sequences) {
    context.batch.clear();
    context.batch.add({ token: mark, position: 0, sequence: number, isWanted: false });
    await context.decode();
    tokens.push(mark);
  }
}

/** As llama.cpp's own programs read a prompt. */
const batchTokensMax = 512;

/** What llama.cpp reads itself, and is long. */
const bulkyKeys = ['tokens', 'merges', 'scores', 'token_type'].map(
  (key) => `tokenizer.ggml.${key}`,
);

/** As many tokens as it was trained to take into account; any number where its file does not say. */
function trainedTokensOf({ trainContextTokens }: Model): number {
  return trainContextTokens > 0 ? trainContextTokens : Infinity;
}

interface Opening {
  readonly path: string;
  readonly info: GgufFileInfo;
  readonly model: Model;
  readonly startedAt: number;
}

function describe({ path, info, model, startedAt }: Opening, contextTokens: number): LoadedModel {
  const { name, architecture } = info.metadata.general;
  return {
    path,
    name: name ?? basename(path),
    architecture,
    sizeBytes: model.sizeBytes,
    contextTokens,
    loadMs: performance.now() - startedAt,
  };
}

function toLoadFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  if (error instanceof OutOfMemoryError)
    return new Fault('unavailable', 'not enough memory for this model', { cause: error });
  if (isOutOfTime(error)) return endlessFault(error);
  const reason = 'bad_model_file';
  return new Fault('invalid', 'the model file cannot be loaded', { cause: error, reason });
}

function endlessFault(cause?: unknown): Fault {
  const message = 'the model file cannot be loaded: its chat template does not end';
  return new Fault('invalid', message, { cause, reason: 'bad_model_file' });
}
