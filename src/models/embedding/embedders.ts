import { Fault } from '../../kit/errors.ts';
import type { Embedder } from './embedder.ts';
import { inBoxEmbedderName, loadStaticEmbedder } from './static-embedder.ts';

/** How an embedder comes to be: by reading a file, or by starting a runtime. */
export type EmbedderLoader = () => Promise<Embedder>;

/**
 * All embedders of a process by name. Each is loaded when it is first asked for and then kept; a
 * load that failed is tried again by the next one who asks.
 */
export class Embedders {
  readonly #loaders: ReadonlyMap<string, EmbedderLoader>;
  readonly #loaded = new Map<string, Promise<Embedder>>();

  /** The in-box embedder is always among them, and is the first; the others follow as given. */
  constructor(others: Readonly<Record<string, EmbedderLoader>> = {}) {
    this.#loaders = new Map([
      [inBoxEmbedderName, () => loadStaticEmbedder()],
      ...Object.entries(others),
    ]);
  }

  /** The names under which an embedder can be had, whether or not it is loaded. */
  names(): string[] {
    return [...this.#loaders.keys()];
  }

  /** The embedder of that name, or the in-box one when no name is given; rejects `not_found`. */
  async find(name = inBoxEmbedderName): Promise<Embedder> {
    const loader = this.#loaders.get(name);
    if (!loader) {
      throw new Fault('not_found', `there is no embedding model ${name}`, {
        reason: 'model_not_found',
        detail: { param: 'model', installed: this.names() },
      });
    }
    const loaded = this.#loaded.get(name) ?? this.#load(name, loader);
    return loaded;
  }

  #load(name: string, loader: EmbedderLoader): Promise<Embedder> {
    const loading = loader();
    this.#loaded.set(name, loading);
    loading.catch(() => this.#loaded.delete(name));
    return loading;
  }
}
