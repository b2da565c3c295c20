import type { Library } from './library.ts';
import type { Pointer } from './structs.ts';
import { runOnThread } from './thread.ts';
import { Vocabulary } from './vocabulary.ts';

/** The weights of a GGUF file, and its vocabulary. The owner disposes of it, after its contexts. */
export class Model implements Disposable {
  readonly library: Library;
  readonly vocabulary: Vocabulary;
  readonly #address: Pointer;

  private constructor(library: Library, address: Pointer) {
    this.library = library;
    this.#address = address;
    this.vocabulary = new Vocabulary(library, library.modelVocabulary(address));
  }

  /** Throws when llama.cpp cannot load the file, and says why in its log. */
  static async load(library: Library, path: string): Promise<Model> {
    const params = { ...library.modelDefaultParams(), n_gpu_layers: 0 };
    const address = await runOnThread(library.modelLoad, path, params);
    if (address === null) throw new Error(`llama.cpp cannot load ${path}`);
    return new Model(library, address);
  }

  get address(): Pointer {
    return this.#address;
  }

  get sizeBytes(): number {
    return this.library.modelSize(this.#address);
  }

  /** How many tokens it was trained to take into account. */
  get trainContextTokens(): number {
    return this.library.modelTrainContext(this.#address);
  }

  get vectorSize(): number {
    return this.library.modelEmbeddingSize(this.#address);
  }

  /** Whether a sequence can go back to a token in its middle. */
  get canGoBack(): boolean {
    const isRunning =
      this.library.modelIsRecurrent(this.#address) || this.library.modelIsHybrid(this.#address);
    return !isRunning && this.library.modelWindow(this.#address) === 0;
  }

  [Symbol.dispose](): void {
    this.library.modelFree(this.#address);
  }
}
