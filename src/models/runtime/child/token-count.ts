import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Vocabulary } from '../llama/vocabulary.ts';

/** Short enough to be read between two tokens of the others. */
const pieceLength = 8192;
/** Up to here a text is read at once and counted exactly, which takes a tenth of a second at most. */
const wholeLength = 2 * pieceLength;
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
  vocabulary: Pick<Vocabulary, 'tokenize'>,
  texts: readonly string[],
  { tokensMax, signal }: CountLimit,
): Promise<number | undefined> {
  let tokens = 0;
  for (const text of texts) {
    if (text.length <= wholeLength) continue;
    for (let start = 0; start < text.length; start += pieceLength) {
      const piece = text.slice(start, start + pieceLength);
      tokens += Math.max(0, vocabulary.tokenize(piece).length - cutTokens);
      if (tokens > tokensMax) return tokens;
      await nextTurn();
      signal.throwIfAborted();
    }
  }
  return undefined;
}
