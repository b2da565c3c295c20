import type { Usage } from '../../conversation/answer.ts';
import { countIn, isObject, objectIn, type Json } from './json-values.ts';

/**
 * Token counts from an answer or a chunk, wherever the provider puts them; undefined where it says
 * none: `usage`, and Groq's `x_groq.usage` of a stream.
 */
export function usageIn(body: Json): Usage | undefined {
  const usage = isObject(body['usage']) ? body['usage'] : objectIn(body['x_groq'])['usage'];
  return isObject(usage) ? readCounts(usage) : undefined;
}

function readCounts(usage: Json): Usage | undefined {
  const inputTokens = countIn(usage['prompt_tokens']);
  const written = countIn(usage['completion_tokens']);
  if (inputTokens === undefined && written === undefined) return undefined;
  const input = inputTokens ?? 0;
  const promptDetails = objectIn(usage['prompt_tokens_details']);
  const cached = cachedCount(usage, promptDetails);
  const cacheWrite = countIn(promptDetails['cache_write_tokens']);
  const reasoning = reasoningCount(usage);
  return {
    inputTokens: input,
    outputTokens: withHiddenThoughts(usage, input, written ?? 0),
    ...(cached !== undefined && { cachedInputTokens: cached }),
    ...(cacheWrite !== undefined && { cacheWriteTokens: cacheWrite }),
    ...(reasoning !== undefined && { reasoningTokens: reasoning }),
  };
}

/** xAI and Gemini leave thoughts out of `completion_tokens`, but not out of `total_tokens`. */
function withHiddenThoughts(usage: Json, input: number, written: number): number {
  const total = countIn(usage['total_tokens']) ?? 0;
  return Math.max(written, total - input);
}

/** OpenAI's, DeepSeek's, and Moonshot's place for what came from the provider's cache. */
function cachedCount(usage: Json, promptDetails: Json): number | undefined {
  return (
    countIn(promptDetails['cached_tokens']) ??
    countIn(usage['prompt_cache_hit_tokens']) ??
    countIn(usage['cached_tokens'])
  );
}

function reasoningCount(usage: Json): number | undefined {
  const details = objectIn(usage['completion_tokens_details']);
  return countIn(details['reasoning_tokens']) ?? countIn(usage['reasoning_tokens']);
}
