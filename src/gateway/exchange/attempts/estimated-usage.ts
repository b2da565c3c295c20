import type { Usage } from '../../conversation/answer.ts';
import { textTokens } from '../../routing/tokens.ts';
import type { Kept } from '../../upstream/intake.ts';

/** What two providers took for one answer. */
export function addUsage(before: Usage | undefined, usage: Usage): Usage {
  if (!before) return usage;
  const sums = countNames.flatMap((name) => {
    const counts = [before[name], usage[name]].filter((count) => count !== undefined);
    return counts.length === 0 ? [] : [[name, counts.reduce((sum, count) => sum + count, 0)]];
  });
  const { inputTokens, outputTokens } = usage;
  return { inputTokens, outputTokens, ...Object.fromEntries(sums), isEstimated: true };
}

const countNames = [
  'inputTokens',
  'outputTokens',
  'cachedInputTokens',
  'cacheWriteTokens',
  'longCacheWriteTokens',
  'reasoningTokens',
  'audioInputTokens',
  'cachedAudioInputTokens',
  'audioOutputTokens',
] as const;

/**
 * What a provider took that nothing was heard of, or nothing but counts: its own where they came, and
 * the prompt by ours.
 */
export function usageOfPrompt(inputTokens: number, known?: Usage): Usage {
  if (known && known.inputTokens > 0) return known;
  return { inputTokens, outputTokens: known?.outputTokens ?? 0, isEstimated: true };
}

/** What an answer took; a prompt of which its provider counts no token was read all the same. */
export function withPrompt(usage: Usage, inputTokens: number): Usage {
  return usage.inputTokens > 0 ? usage : { ...usage, inputTokens, isEstimated: true };
}

/**
 * What an answer took that was broken off before its provider could say: its own count of the prompt
 * where that came, else ours, and the text that came: of a long one its beginning is counted, and the
 * rest taken to be like it. One token stands for what never showed.
 */
export function estimateUsage({ pieces, share }: Kept, inputTokens: number, known?: Usage): Usage {
  let tokens = 0;
  for (const piece of pieces) {
    if ('text' in piece) tokens += textTokens(piece.text);
    else if (piece.type === 'tool-call') tokens += textTokens((piece.name ?? '') + piece.arguments);
  }
  const outputTokens = Math.max(1, Math.ceil(tokens / share), known?.outputTokens ?? 0);
  return {
    ...known,
    inputTokens: known?.inputTokens || inputTokens,
    outputTokens,
    isEstimated: true,
  };
}
