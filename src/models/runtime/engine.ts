import { basename } from 'node:path';
import {
  getLlama,
  InsufficientMemoryError,
  LlamaLogLevel,
  resolveChatWrapper,
  type ChatWrapper,
  type Llama,
  type LlamaContext,
  type LlamaContextSequence,
  type LlamaModel,
} from 'node-llama-cpp';
import { Fault } from '../../kit/errors.ts';
import { Gate } from './gate.ts';
import type { ChildSettings, LoadedModel, ModelKey } from './protocol.ts';

/** A loaded model with the sequences that no request holds. */
export interface OpenModel {
  readonly model: LlamaModel;
  readonly context: LlamaContext;
  /** Formats chats by the file's own template; a plain format where it has none. */
  readonly wrapper: ChatWrapper;
  readonly idle: LlamaContextSequence[];
  /** Every request asks it between two tokens. */
  readonly gate: Gate;
  readonly described: LoadedModel;
}

type WriteLog = (level: 'warn' | 'error', message: string) => void;

/** Holds llama.cpp and its models; lives in the child process only. */
export class Engine {
  readonly #llama: Llama;
  readonly #settings: ChildSettings;
  readonly #models = new Map<ModelKey, Promise<OpenModel>>();

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
  async open(key: ModelKey, path: string): Promise<OpenModel> {
    const open = this.#models.get(key) ?? this.#load(path);
    this.#models.set(key, open);
    try {
      return await open;
    } catch (error) {
      this.#models.delete(key);
      throw toLoadFault(error);
    }
  }

  /** Frees a model. No request may hold one of its sequences. */
  async close(key: ModelKey): Promise<void> {
    const open = this.#models.get(key);
    this.#models.delete(key);
    const { context, model } = (await open) ?? {};
    await context?.dispose();
    await model?.dispose();
  }

  async #load(path: string): Promise<OpenModel> {
    const startedAt = performance.now();
    const model = await this.#llama.loadModel({ modelPath: path });
    try {
      const context = await this.#createContext(model);
      const loadMs = performance.now() - startedAt;
      const idle = Array.from({ length: context.totalSequences }, () => context.getSequence());
      const wrapper = resolveChatWrapper(model, { warningLogs: false });
      const described = describe(path, context, loadMs);
      return { model, context, wrapper, idle, gate: new Gate(), described };
    } catch (error) {
      await model.dispose();
      throw error;
    }
  }

  async #createContext(model: LlamaModel): Promise<LlamaContext> {
    const { parallel, threads, contextTokensMax } = this.#settings;
    const max = Math.min(contextTokensMax, model.trainContextSize);
    return model.createContext({
      sequences: parallel,
      contextSize: { max },
      threads: Math.min(threads, Math.max(1, this.#llama.cpuMathCores)),
    });
  }
}

function describe(path: string, context: LlamaContext, loadMs: number): LoadedModel {
  const { model } = context;
  return {
    path,
    name: model.fileInfo.metadata.general.name ?? basename(path),
    architecture: model.architecture,
    sizeBytes: model.size,
    contextTokens: context.contextSize,
    loadMs,
  };
}

function toLoadFault(error: unknown): Fault {
  if (error instanceof InsufficientMemoryError)
    return new Fault('unavailable', 'not enough memory for this model', { cause: error });
  return new Fault('invalid', 'the model file cannot be loaded', { cause: error });
}
