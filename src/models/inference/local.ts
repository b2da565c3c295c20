import type { InstalledModel, ModelLibrary } from '../library/library.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { Caller, Inference, ModelInfo, RunningModel } from './inference.ts';
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
    yield* this.#runtime.generate({ ...request, modelPath }, caller);
  }

  async embed(model: ModelInfo, texts: readonly string[], caller: Caller): Promise<Embeddings> {
    return this.#runtime.embed({ modelPath: await this.#pathOf(model), texts }, caller);
  }

  async load(model: ModelInfo, caller: Caller, keepAliveMs?: number): Promise<void> {
    const modelPath = await this.#pathOf(model);
    const keepAlive = keepAliveMs === undefined ? {} : { keepAliveMs };
    await this.#runtime.load({ modelPath, ...keepAlive }, caller);
  }

  async unload(model: ModelInfo): Promise<void> {
    await this.#runtime.unload(await this.#pathOf(model));
  }

  async #pathOf(model: ModelInfo): Promise<string> {
    const installed = isInstalled(model) ? model : await this.#library.find(model.name);
    return installed.path;
  }
}

/** What `list` and `find` answered; the folder need not be read a second time. */
function isInstalled(model: ModelInfo): model is InstalledModel {
  return 'path' in model && 'isBuiltIn' in model;
}
