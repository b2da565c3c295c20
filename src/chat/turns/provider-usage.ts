import type { Usage } from '../conversations/conversation.ts';

/** Of one answer; two of them together are still an `Int` of GraphQL. */
const tokensMax = 1_000_000_000;
const costMax = 1_000_000_000;

/**
 * What an answer took as its provider counted it, in the names of OpenAI's API: whole numbers of tokens
 * up to 1,000,000,000, and a cost of as many US dollars at most. A total that is none is the sum of the
 * others, a cost that is none is unknown, and undefined is what has a count that is none: whatever a
 * provider counts, it costs no answer.
 */
export function readUsage(value: unknown): Usage | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  // Each field is looked at below.
  const given = value as Readonly<Record<string, unknown>>;
  const promptTokens = given['prompt_tokens'] ?? 0;
  const completionTokens = given['completion_tokens'] ?? 0;
  const { total_tokens: total, cost } = given;
  if (!isCount(promptTokens) || !isCount(completionTokens)) return undefined;
  return {
    promptTokens,
    completionTokens,
    totalTokens: isCount(total) ? total : promptTokens + completionTokens,
    ...(isCost(cost) ? { cost } : {}),
  };
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && isWithin(value, tokensMax);
}

function isCost(value: unknown): value is number {
  return isWithin(value, costMax);
}

function isWithin(value: unknown, most: number): boolean {
  return typeof value === 'number' && value >= 0 && value <= most;
}
