import { newId } from '../../kit/ids.ts';
import type { ModelInfo } from '../inference/inference.ts';
import type { Usage as TokenUsage } from '../inference/request.ts';

/** The fields that every answer and every chunk of it begin with. */
export function headOf<T extends string>(object: T, idPrefix: string, model: ModelInfo) {
  return { id: newId(idPrefix), object, created: toUnixSeconds(new Date()), model: model.name };
}

/** The counts of a generation, as OpenAI's API words them. */
export function usageOf({
  promptTokens,
  completionTokens,
  cachedPromptTokens: cached,
}: TokenUsage) {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    ...(cached === undefined ? {} : { prompt_tokens_details: { cached_tokens: cached } }),
  };
}

/** Whole seconds since 1970, the unit of OpenAI's times. */
export function toUnixSeconds(date: Date): number {
  return Math.floor(date.getTime() / 1000);
}
