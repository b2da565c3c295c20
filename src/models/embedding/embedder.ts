/** Turns texts into vectors whose directions are near where the texts' meanings are. */
export interface Embedder {
  readonly name: string;
  /** Changes with the weights: vectors of two revisions must never be compared. */
  readonly revision: string;
  readonly dimensions: number;
  /** SHA-256 of the file in hex. */
  readonly digest: string;
  /** The numbers that the weights consist of. */
  readonly parameterCount: number;
  /** True when every vector has length 1, so that a dot product is the cosine. */
  readonly isNormalised: boolean;
  /** One vector a text, in the order of the texts; rejects with the signal's reason once aborted. */
  embed(texts: readonly string[], options?: EmbedOptions): Promise<Embeddings>;
}

export interface EmbedOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface Embeddings {
  readonly vectors: Float32Array[];
  /** How many tokens each text was read as. Only a blank text has 0 tokens; its vector is zero. */
  readonly tokens: number[];
}
