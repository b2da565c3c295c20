import type { AnswerEvent, Usage } from '../conversation/answer.ts';
import { textTokens } from '../routing/tokens.ts';

/**
 * What an answer took that was broken off before its provider could say: its own count of the prompt
 * where that came, else ours, and the text that came. One token stands for what never showed.
 */
export function estimateUsage(
  soFar: readonly AnswerEvent[],
  inputTokens: number,
  known?: Usage,
): Usage {
  let tokens = 0;
  for (const piece of soFar) {
    if ('text' in piece) tokens += textTokens(piece.text);
    else if (piece.type === 'tool-call') tokens += textTokens((piece.name ?? '') + piece.arguments);
  }
  const outputTokens = Math.max(1, Math.ceil(tokens), known?.outputTokens ?? 0);
  return { inputTokens, ...known, outputTokens, isEstimated: true };
}
