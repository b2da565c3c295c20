import { Fault } from '../../kit/errors.ts';
import { capabilitiesOf } from '../library/gguf/capabilities.ts';
import { readGgufHeader, type GgufHeader } from '../library/gguf/gguf-header.ts';
import { markModelSync, type FilesMark } from '../library/model-files.ts';
import { contextTokensOf, estimateMemoryBytes, type ContextShape } from './memory.ts';
import type { ModelKey, ModelKind, Task, TaskEnd } from './protocol.ts';

export interface ModelFile {
  readonly path: string;
  readonly key: ModelKey;
  readonly kind: ModelKind;
  /** What it takes once it is loaded, by estimate. */
  readonly memoryBytes: number;
  /** What one request may use. */
  readonly contextTokens: number;
}

interface KnownFile {
  readonly file: ModelFile;
  readonly mark: FilesMark;
}

interface Attempt {
  readonly file: ModelFile;
  readonly task: Task;
}

/** Knows the files that were asked for; each header is read once for each content. */
export class ModelFiles {
  readonly #shape: ContextShape;
  readonly #known = new Map<string, KnownFile>();
  readonly #condemned = new Set<ModelKey>();
  readonly #failed = new Set<ModelKey>();
  readonly #proven = new Set<ModelKey>();
  readonly #answered = new Set<ModelKey>();
  readonly #suspected = new Set<ModelKey>();

  constructor(shape: ContextShape) {
    this.#shape = shape;
  }

  /**
   * Names the content that stands at a path. Fault `not_found` when there is no such file,
   * `invalid` when its header is not a sound GGUF header or its model neither writes nor embeds.
   */
  async identify(path: string): Promise<ModelFile> {
    const mark = this.#mark(path);
    const known = this.#known.get(path);
    const file = known && isSame(known.mark, mark) ? known.file : await this.#read(path, mark);
    if (this.#condemned.has(file.key)) throw badFileFault();
    return file;
  }

  async #read(path: string, { ino, size, mtimeMs }: FilesMark): Promise<ModelFile> {
    const header = await readGgufHeader(path).catch(toFault);
    const kind = kindOf(header);
    const file = {
      path,
      key: [path, ino, size, mtimeMs].join('|'),
      kind,
      memoryBytes: estimateMemoryBytes(header, kind, this.#shape),
      contextTokens: contextTokensOf(header, this.#shape),
    };
    this.#known.set(path, { file, mark: { ino, size, mtimeMs } });
    return file;
  }

  /** At once: every request asks, and its first text waits for it. */
  #mark(path: string): FilesMark {
    try {
      return markModelSync(path);
    } catch (error) {
      this.#known.delete(path);
      throw new Fault('not_found', 'there is no such model file', { cause: error });
    }
  }

  /**
   * The file ended the process: where that is certain, and else the second time, it is `invalid`
   * until its content changes. Answers whether it is.
   */
  blame({ key }: ModelFile, isCertain: boolean): boolean {
    if (isCertain || this.#suspected.has(key)) this.#condemned.add(key);
    this.#suspected.add(key);
    return this.#condemned.has(key);
  }

  /** A file that could not be loaded is tried again by those who name it. */
  noteOutcome({ file: { key }, task }: Attempt, outcome: TaskEnd | Fault): void {
    if (outcome instanceof Fault) {
      if (outcome.reason === 'bad_model_file') this.#failed.add(key);
      return;
    }
    this.#failed.delete(key);
    this.#proven.add(key);
    if (task.kind === 'load') return;
    this.#suspected.delete(key);
    this.#answered.add(key);
  }

  /** Whether a request to it has ended well, beyond its being loaded. */
  hasAnswered({ key }: ModelFile): boolean {
    return this.#answered.has(key);
  }

  hasWorked({ key }: ModelFile): boolean {
    return this.#proven.has(key);
  }

  hasFailed({ key }: ModelFile): boolean {
    return this.#failed.has(key);
  }
}

/** What a file is answered that could not be loaded, or whose loading ended the process. */
export function badFileFault(): Fault {
  return new Fault('invalid', 'the model file cannot be loaded', { reason: 'bad_model_file' });
}

function isSame(one: FilesMark, other: FilesMark): boolean {
  return one.ino === other.ino && one.size === other.size && one.mtimeMs === other.mtimeMs;
}

function kindOf(header: GgufHeader): ModelKind {
  const capabilities = capabilitiesOf(header);
  if (capabilities.includes('completion')) return 'generative';
  if (capabilities.includes('embedding')) return 'embedding';
  const message = `a model of the architecture ${header.architecture} cannot be asked here`;
  throw new Fault('invalid', message, { reason: 'unsupported_capability' });
}

function toFault(error: unknown): never {
  if (error instanceof Fault) throw error;
  throw new Fault('invalid', 'the model file is not a GGUF file', { cause: error });
}
