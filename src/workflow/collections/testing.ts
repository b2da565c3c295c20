import { openTestTables } from '../../kit/database/testing.ts';
import { Fault } from '../../kit/errors.ts';
import type { EmbeddingsClient } from '../../kit/vectors/embed-texts.ts';

/** The workflow's empty tables. */
export function openCollectionTables() {
  return openTestTables('workflow', new URL('../migrations/', import.meta.url));
}

/** An embedder whose vectors a test can foretell: one dimension for each letter of the alphabet. */
export function createLetterModels() {
  const state = { calls: 0, failure: undefined as Fault | undefined, failsAt: 0 };
  const client: EmbeddingsClient = {
    createEmbeddings: async ({ body: { input, model = 'letters' } }) => {
      state.calls += 1;
      if (state.failure && state.calls > state.failsAt) throw state.failure;
      const texts = input;
      return {
        object: 'list',
        data: texts.map((text, index) => ({
          object: 'embedding',
          index,
          embedding: countLetters(text),
        })),
        model,
        dimensions: 26,
        normalised: false,
        usage: { prompt_tokens: texts.length, total_tokens: texts.length },
      };
    },
  };
  return { client, state };
}

function countLetters(input: unknown): number[] {
  const counts = Array.from({ length: 26 }, () => 0);
  for (const letter of String(input).toLowerCase()) {
    const at = letter.charCodeAt(0) - 97;
    if (at >= 0 && at < 26) counts[at] = (counts[at] ?? 0) + 1;
  }
  return counts;
}
