import { doubleOf } from '../exact-json.ts';
import type { Usage } from '../../conversation/answer.ts';
import { isRecord, isTokenCount, recordIn } from '../untrusted.ts';
import type { Json } from '../json.ts';

/**
 * Token counts from an answer or a chunk, wherever the provider puts them; undefined where it says
 * none: `usage`, and Groq's `x_groq.usage` of a stream.
 */
export function usageIn(body: Json): Usage | undefined {
  const usage = isRecord(body['usage']) ? body['usage'] : recordIn(body['x_groq'])['usage'];
  return isRecord(usage) ? readCounts(usage) : undefined;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

function readCounts(usage: Json): Usage | undefined {
  const prompt = tokensIn(usage['prompt_tokens']);
  const written = tokensIn(usage['completion_tokens']);
  if (prompt === undefined && written === undefined) return undefined;
  const inputTokens = prompt || promptOf(usage, written ?? 0);
  const promptDetails = recordIn(usage['prompt_tokens_details']);
  const cached = cachedCount(usage, promptDetails);
  const cacheWrite = tokensIn(promptDetails['cache_write_tokens']);
  const reasoning = reasoningCount(usage);
  const heard = tokensIn(promptDetails['audio_tokens']);
  const spoken = tokensIn(recordIn(usage['completion_tokens_details'])['audio_tokens']);
  const outputTokens = withHiddenThoughts(usage, inputTokens, written ?? 0);
  const counts: Writable<Usage> = { inputTokens, outputTokens };
  // One by one: spreads of what may be absent take longer than all else here.
  if (cached !== undefined) counts.cachedInputTokens = cached;
  if (cacheWrite !== undefined) counts.cacheWriteTokens = cacheWrite;
  if (reasoning !== undefined) counts.reasoningTokens = reasoning;
  if (heard) counts.audioInputTokens = heard;
  if (spoken) counts.audioOutputTokens = spoken;
  return counts;
}

/** The prompt of a provider that counts only the answer and the whole. */
function promptOf(usage: Json, written: number): number {
  return Math.max(0, (tokensIn(usage['total_tokens']) ?? 0) - written);
}

/** xAI and Gemini leave thoughts out of `completion_tokens`, but not out of `total_tokens`. */
function withHiddenThoughts(usage: Json, input: number, written: number): number {
  const total = tokensIn(usage['total_tokens']) ?? 0;
  return Math.max(written, total - input);
}

/** OpenAI's, DeepSeek's, and Moonshot's place for what came from the provider's cache. */
function cachedCount(usage: Json, promptDetails: Json): number | undefined {
  return (
    tokensIn(promptDetails['cached_tokens']) ??
    tokensIn(usage['prompt_cache_hit_tokens']) ??
    tokensIn(usage['cached_tokens'])
  );
}

function reasoningCount(usage: Json): number | undefined {
  const details = recordIn(usage['completion_tokens_details']);
  return tokensIn(details['reasoning_tokens']) ?? tokensIn(usage['reasoning_tokens']);
}

/** Undefined where the provider says nothing; 0 for what cannot be a count of tokens. */
function tokensIn(value: unknown): number | undefined {
  const count = doubleOf(value);
  if (typeof count !== 'number') return undefined;
  return isTokenCount(count) ? count : 0;
}
