import type { Usage } from '../../conversation/answer.ts';

/** Token counts as OpenAI's API shows them; cache writes as OpenRouter does. */
export function writeUsage(usage: Usage): Record<string, unknown> {
  const { inputTokens, outputTokens } = usage;
  const { cachedInputTokens, cacheWriteTokens, reasoningTokens } = usage;
  const { audioInputTokens, audioOutputTokens } = usage;
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: {
      cached_tokens: cachedInputTokens ?? 0,
      audio_tokens: audioInputTokens ?? 0,
      ...(cacheWriteTokens !== undefined && { cache_write_tokens: cacheWriteTokens }),
    },
    completion_tokens_details: {
      reasoning_tokens: reasoningTokens ?? 0,
      audio_tokens: audioOutputTokens ?? 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}
