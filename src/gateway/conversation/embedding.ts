/** Texts to be turned into vectors. */
export interface EmbeddingRequest {
  /** As asked: a name, or `<provider>/<name>`. */
  readonly model: string;
  /** Texts, or texts as token numbers, which only OpenAI's dialect knows. */
  readonly input: readonly (string | readonly number[])[];
  readonly dimensions?: number | undefined;
  /** Fields beyond the above, by their names. */
  readonly extras: Readonly<Record<string, unknown>>;
}

/** A vector for each input, in order. */
export interface Embeddings {
  readonly model: string;
  readonly vectors: readonly (readonly number[])[];
  readonly inputTokens: number;
}
