import type { Answer } from '../../api/contracts.ts';
import { formatCount, formatDollars } from '../../ui/text.ts';

export type SpendReport = Answer<'gateway', 'GET /api/v1/spend'>;
export type SpendGroup = SpendReport['spend'][number];
type Totals = SpendReport['totals'];

/** What bars show. */
export const measures = ['dollars', 'tokens', 'requests'] as const;
export type Measure = (typeof measures)[number];

export function measureOf(totals: Totals, measure: Measure): number {
  if (measure === 'tokens') return totals.inputTokens + totals.outputTokens;
  return totals[measure];
}

export function formatMeasure(value: number, measure: Measure): string {
  return measure === 'dollars' ? formatDollars(value) : `${formatCount(value)} ${measure}`;
}
