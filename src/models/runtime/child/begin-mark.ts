import type { LlamaModel, Token } from 'node-llama-cpp';

/** What the model wants at the beginning of every prompt; undefined where it wants nothing. */
export function beginMarkOf({ tokens }: LlamaModel): Token | undefined {
  return tokens.shouldPrependBosToken ? (tokens.bos ?? undefined) : undefined;
}
