import type { EmbeddingRequest } from '../conversation/embedding.ts';
import { firstUnsaid } from './harmless-fields.ts';
import { UpstreamError } from './upstream-error.ts';

/** How vectors are written to the client is not the provider's matter. */
const written: ReadonlySet<string> = new Set(['encoding_format']);

/** For dialects that embed texts and nothing else. */
export function findUnsupported({ input, extras }: EmbeddingRequest): string | undefined {
  if (input.some((item) => typeof item !== 'string')) return 'input';
  return firstUnsaid(extras, written);
}

/** The vectors of an answer; throws `UpstreamError` unless there is one of numbers for each input. */
export function readVectors(values: unknown, { input }: EmbeddingRequest): readonly number[][] {
  if (!Array.isArray(values) || values.length !== input.length)
    throw UpstreamError.of('broken', 'the provider did not answer with a vector for each input');
  return values.map(expectVector);
}

/** A number for answers that do not say what they took: four letters are a token. */
export function estimateTokens({ input }: EmbeddingRequest): number {
  const letters = input.reduce((sum, item) => sum + item.length, 0);
  return Math.ceil(letters / 4);
}

function expectVector(value: unknown): number[] {
  if (!Array.isArray(value) || value.length === 0 || typeof value[0] !== 'number')
    throw UpstreamError.of('broken', 'the provider answered with something that is no vector');
  return value as number[];
}
