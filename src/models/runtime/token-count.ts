import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LlamaModel } from 'node-llama-cpp';

/** Short enough to be read between two tokens of the others. */
const pieceLength = 8192;
/** What a cut through a word can add at most, in usual vocabularies. */
const cutTokens = 32;

export interface CountLimit {
  readonly tokensMax: number;
  readonly signal: AbortSignal;
}

/**
 * A number of tokens above the limit that texts have at least; undefined when they may keep to it. Of
 * some texts llama.cpp takes seconds to make tokens at once, so long ones are read piece by piece, and
 * others get their turn in between.
 */
export async function countBeyond(
  model: Pick<LlamaModel, 'tokenize'>,
  texts: readonly string[],
  { tokensMax, signal }: CountLimit,
): Promise<number | undefined> {
  let tokens = 0;
  for (const text of texts) {
    // Together with its whole reading later that would be twice the work for nothing.
    if (text.length <= pieceLength) continue;
    for (let start = 0; start < text.length; start += pieceLength) {
      const piece = text.slice(start, start + pieceLength);
      tokens += Math.max(0, model.tokenize(piece).length - cutTokens);
      if (tokens > tokensMax) return tokens;
      await nextTurn();
      signal.throwIfAborted();
    }
  }
  return undefined;
}
