export interface Completion {
  readonly promptTokens: number;
  readonly answerTokens: number;
}

/** A way to have a prompt completed greedily. */
export interface Way {
  readonly complete: (
    prompt: { readonly text: string; readonly answerTokens: number },
    onFirst: () => void,
  ) => Promise<Completion>;
  /** The process with the model. */
  readonly modelPid: () => number;
}

/** What all ways are measured with. */
export const threads = 1;
export const sequences = 8;
export const contextTokens = 2048;
