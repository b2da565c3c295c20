import { Fault } from '../../kit/errors.ts';
import type { InstalledModel, ModelLibrary } from '../library/library.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { isFlaw } from './flaws.ts';
import type { Caller, Inference, ModelInfo, RunningModel, Waiting } from './inference.ts';
import type { Embeddings, GenerateEvent, GenerateRequest } from './request.ts';

/** The own llama.cpp runtime over the installed files. */
export class LocalInference implements Inference {
  readonly #library: ModelLibrary;
  readonly #runtime: Runtime;

  constructor(library: ModelLibrary, runtime: Runtime) {
    this.#library = library;
    this.#runtime = runtime;
  }

  list(): Promise<readonly ModelInfo[]> {
    return this.#library.list();
  }

  find(name: string | undefined): Promise<ModelInfo> {
    return this.#library.find(name);
  }

  async defaultName(): Promise<string | undefined> {
    if (this.#library.defaultName !== undefined) return this.#library.defaultName;
    const models = await this.#library.list();
    return models.find(({ capabilities }) => capabilities.includes('completion'))?.name;
  }

  async running(): Promise<readonly RunningModel[]> {
    const installed = await this.#library.list();
    return this.#runtime.loaded().flatMap(({ path, memoryBytes, contextTokens, expiresAt }) => {
      const model = installed.find((one) => one.path === path);
      return model ? [{ model, memoryBytes, contextTokens, expiresAt }] : [];
    });
  }

  async *generate(
    model: ModelInfo,
    request: GenerateRequest,
    caller: Caller,
  ): AsyncGenerator<GenerateEvent> {
    const modelPath = await this.#pathOf(model);
    try {
      yield* this.#runtime.generate({ ...request, modelPath }, caller);
    } catch (error) {
      throw await this.#naming(model, error);
    }
  }

  async embed(model: ModelInfo, texts: readonly string[], caller: Caller): Promise<Embeddings> {
    const modelPath = await this.#pathOf(model);
    return this.#runtime.embed({ modelPath, texts }, caller).catch(async (error: unknown) => {
      throw await this.#naming(model, error);
    });
  }

  async load(model: ModelInfo, caller: Caller, keepAliveMs?: number): Promise<void> {
    const modelPath = await this.#pathOf(model);
    const keepAlive = keepAliveMs === undefined ? {} : { keepAliveMs };
    await this.#runtime.load({ modelPath, ...keepAlive }, caller).catch(async (error: unknown) => {
      throw await this.#naming(model, error);
    });
  }

  async unload(model: ModelInfo): Promise<void> {
    await this.#runtime.unload(await this.#pathOf(model));
  }

  /** Why the model cannot be asked: its file failed to load before, or can never fit the memory. */
  async flawOf(model: ModelInfo): Promise<Fault | undefined> {
    return isInstalled(model) ? this.#runtime.flawOf(model.path) : undefined;
  }

  /** As `flawOf`; loads a file that never worked yet to find out. Other Faults are thrown. */
  async prove(model: ModelInfo, { caller, deadlineMs }: Waiting): Promise<Fault | undefined> {
    if (!isInstalled(model) || (await this.#runtime.hasWorked(model.path))) return undefined;
    const request = { modelPath: model.path, ...(deadlineMs === undefined ? {} : { deadlineMs }) };
    try {
      await this.#runtime.load(request, caller);
      return undefined;
    } catch (error) {
      if (isFlaw(error)) return error;
      throw error;
    }
  }

  async #pathOf(model: ModelInfo): Promise<string> {
    const installed = isInstalled(model) ? model : await this.#library.find(model.name);
    return installed.path;
  }

  /**
   * The runtime knows files only; callers know names. A file that was deleted while it was loaded is
   * missing, not bad.
   */
  async #naming({ name }: ModelInfo, error: unknown): Promise<unknown> {
    if (!isFlaw(error)) return error;
    try {
      await this.#library.find(name);
    } catch (missing) {
      return missing;
    }
    const { code, message, reason = '', detail } = error;
    return new Fault(code, `${name}: ${message}`, { cause: error, reason, detail });
  }
}

/** What `list` and `find` answered; the folder need not be read a second time. */
function isInstalled(model: ModelInfo): model is InstalledModel {
  return 'path' in model && 'isBuiltIn' in model;
}
