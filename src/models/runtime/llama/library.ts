import * as koffi from 'koffi';
import { findBinaries } from './binaries.ts';
import {
  cpuPrototypes,
  ggmlBasePrototypes,
  ggmlPrototypes,
  llamaPrototypes,
} from './prototypes.ts';
import {
  headerRelease,
  type BatchStruct,
  type Candidates,
  type ContextParams,
  type ModelParams,
  type Pointer,
  type ThreadPoolParams,
} from './structs.ts';

/** Some of them run on a thread of their own, too. */
type Callable<F extends (...args: never[]) => unknown> = koffi.KoffiFunc<F>;
type Ask<R> = (of: Pointer) => R;
type AskAt<R> = (of: Pointer, at: number) => R;

/**
 * Between texts and tokens, with or without a begin and an end mark around them, and marks within. Answers
 * how many there are; the negative of that when there is not enough room.
 */
type Transcribe<From, To> = (
  ...args: [
    vocabulary: Pointer,
    from: From,
    fromLength: number,
    to: To,
    toLength: number,
    isFramed: boolean,
    withMarks: boolean,
  ]
) => number;

/** What `prototypes.ts` declares, by the same names. */
export interface Library {
  readonly modelDefaultParams: () => ModelParams;
  readonly modelLoad: Callable<(path: string, params: ModelParams) => Pointer | null>;
  readonly modelFree: Ask<void>;
  readonly modelVocabulary: Ask<Pointer>;
  readonly modelTrainContext: Ask<number>;
  readonly modelEmbeddingSize: Ask<number>;
  readonly modelSize: Ask<number>;
  readonly modelIsRecurrent: Ask<boolean>;
  readonly modelIsHybrid: Ask<boolean>;
  /** 0 when each token sees all before it. */
  readonly modelWindow: Ask<number>;

  readonly vocabularyType: Ask<number>;
  readonly vocabularySize: Ask<number>;
  /** These five: negative when the model has none. */
  readonly bosOf: Ask<number>;
  readonly eosOf: Ask<number>;
  readonly eotOf: Ask<number>;
  readonly sepOf: Ask<number>;
  readonly nlOf: Ask<number>;
  readonly addsBos: Ask<boolean>;
  readonly addsEos: Ask<boolean>;
  readonly attributesOf: AskAt<number>;
  readonly isEog: AskAt<boolean>;
  readonly textOf: AskAt<string | null>;
  readonly tokenize: Transcribe<Uint8Array, Int32Array>;
  readonly detokenize: Transcribe<Int32Array, Uint8Array>;

  readonly contextDefaultParams: () => ContextParams;
  readonly contextInit: Callable<(model: Pointer, params: ContextParams) => Pointer | null>;
  readonly contextFree: Ask<void>;
  readonly contextMemory: Ask<Pointer | null>;
  readonly contextPooling: Ask<number>;
  readonly sequenceTokens: Ask<number>;
  readonly attachThreadPool: (context: Pointer, pool: Pointer, forBatches: null) => void;
  /** 0 when all went well, 1 when the memory has no room. */
  readonly decode: Callable<(context: Pointer, batch: BatchStruct) => number>;
  /** Takes out what stands from one position up to before another; a negative one means all. */
  readonly memoryRemove: (
    ...args: [memory: Pointer, sequence: number, from: number, to: number]
  ) => boolean;
  readonly logitsAt: AskAt<Pointer | null>;
  readonly embeddingsAt: AskAt<Pointer | null>;
  readonly embeddingsOf: AskAt<Pointer | null>;

  readonly chainInit: (params: { readonly no_perf: boolean }) => Pointer;
  /** The chain frees it from then on. */
  readonly chainAdd: (chain: Pointer, sampler: Pointer) => void;
  readonly samplerFree: Ask<void>;
  /** Samples a token from the result at a place of the batch, and accepts it. */
  readonly samplerSample: (sampler: Pointer, context: Pointer, at: number) => number;
  readonly samplerApply: (sampler: Pointer, given: Candidates) => void;
  readonly samplerAccept: (sampler: Pointer, token: number) => void;
  readonly initGreedy: () => Pointer;
  readonly initDistribution: (seed: number) => Pointer;
  readonly initTopK: (k: number) => Pointer;
  readonly initTopP: (p: number, keptMin: number) => Pointer;
  readonly initMinP: (p: number, keptMin: number) => Pointer;
  readonly initTemperature: (temperature: number) => Pointer;
  readonly initPenalties: (
    ...args: [
      vocabularySize: number,
      last: number,
      repeat: number,
      frequency: number,
      presence: number,
    ]
  ) => Pointer;
  /** Null when the text is no grammar. */
  readonly initGrammar: (vocabulary: Pointer, text: string, root: string) => Pointer | null;

  readonly threadPoolDefaultParams: (threads: number) => ThreadPoolParams;
  readonly threadPoolNew: (params: ThreadPoolParams) => Pointer;
  readonly threadPoolFree: Ask<void>;
}

export type WriteLog = (level: 'warn' | 'error', message: string) => void;

/**
 * Loads llama.cpp, and of its libraries the one for this processor; once in a process. Its warnings and errors
 * go to the log. Throws when the libraries are missing, or not those that the structs belong to.
 */
export function openLibrary(log: WriteLog): Library {
  const { folder, release, ...files } = findBinaries();
  if (release !== headerRelease)
    throw new Error(`llama.cpp is ${release}, its structs here are those of ${headerRelease}`);
  koffi.config({ sync_stack_size: stackBytes, async_stack_size: stackBytes });
  // In this order each finds in memory what it needs.
  const ggmlBase = bindAll(koffi.load(files.ggmlBase), ggmlBasePrototypes);
  const ggml = bindAll(koffi.load(files.ggml), ggmlPrototypes);
  const llama = bindAll(koffi.load(files.llama), llamaPrototypes);
  llama.setLog(koffi.register(toLogCallback(log), koffi.pointer(logCallback)), null);
  llama.initBackend();
  ggml.loadBackends(folder);
  const cpu: unknown = ggml.backendOf('CPU');
  if (cpu === null) throw new Error('llama.cpp has no library for this processor');
  const addressOf = (name: string): unknown => ggmlBase.functionOf(cpu, name);
  const library = { ...llama, ...ggmlBase, ...bindFound(addressOf) };
  // The prototypes and these types say the same.
  return library as unknown as Library;
}

/** As much as a program has: the parsers of grammars and texts call themselves. */
const stackBytes = 8 * 2 ** 20;

type Functions<Prototypes> = Readonly<Record<keyof Prototypes, koffi.KoffiFunc<AnyFunction>>>;
type AnyFunction = (...args: unknown[]) => unknown;

function bindAll<P extends Readonly<Record<string, string>>>(
  library: koffi.LibraryHandle,
  prototypes: P,
): Functions<P> {
  const bound = Object.entries(prototypes).map(([name, text]) => [name, library.func(text)]);
  return Object.fromEntries(bound) as Functions<P>;
}

function bindFound(addressOf: (name: string) => unknown): Readonly<Record<string, AnyFunction>> {
  const bound = Object.entries(cpuPrototypes).map(([name, text]) => {
    const prototype = koffi.proto(text);
    const found = addressOf(prototype.name);
    return [name, (...args: unknown[]): unknown => koffi.call(found, prototype, ...args)] as const;
  });
  return Object.fromEntries(bound);
}

const logCallback = koffi.proto('void llama_log(int level, str text, void *user_data)');

/** `GGML_LOG_LEVEL_WARN` and `GGML_LOG_LEVEL_ERROR`. */
const levels: ReadonlyMap<number, 'warn' | 'error'> = new Map([
  [3, 'warn'],
  [4, 'error'],
]);

function toLogCallback(log: WriteLog): (level: number, text: string | null) => void {
  return (number, text) => {
    const level = levels.get(number);
    if (level) log(level, (text ?? '').trimEnd());
  };
}
