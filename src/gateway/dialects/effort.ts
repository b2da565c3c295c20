import type { Reasoning } from '../conversation/request.ts';

/** Tokens of thought that an effort stands for, least first. */
const budgets: readonly (readonly [effort: string, tokens: number])[] = [
  ['minimal', 1024],
  ['low', 2048],
  ['medium', 8192],
  ['high', 16_384],
  ['xhigh', 32_768],
];

/** Tokens of thought for models that take a number; undefined when none are wanted. */
export function budgetOf({ effort, budgetTokens }: Reasoning): number | undefined {
  if (effort === 'none') return undefined;
  if (budgetTokens !== undefined) return budgetTokens;
  return budgets.find(([name]) => name === effort)?.[1] ?? 8192;
}

/** The effort for models that take a name: of a number of tokens, the least that allows as many. */
export function effortOf({ effort, budgetTokens }: Reasoning): string {
  if (effort !== undefined) return effort;
  if (budgetTokens === undefined) return 'medium';
  return budgets.find(([, tokens]) => tokens >= budgetTokens)?.[0] ?? 'xhigh';
}

/**
 * Of the efforts that a model knows, least first, the least that is not below the wanted one, else the
 * greatest. An effort that nobody has heard of stays as it is: the provider may know it.
 */
export function nearestEffort(wanted: string, known: readonly string[]): string {
  const rank = rankOf(wanted);
  if (rank < 0) return wanted;
  return known.find((effort) => rankOf(effort) >= rank) ?? known.at(-1) ?? wanted;
}

function rankOf(effort: string): number {
  return budgets.findIndex(([name]) => name === effort);
}
