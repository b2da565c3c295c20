import type { Answer } from '../../api/contracts.ts';
import { formatCount, formatDollars } from '../../ui/text.ts';

export type Budget = Answer<'gateway', 'GET /api/v1/budgets'>['budgets'][number];
export type Limit = Budget['limits'][number];

export const units = ['dollars', 'tokens', 'requests'] as const;
export const periods = ['day', 'month'] as const;

/** A limit as it is written in a form. */
export interface LimitForm {
  readonly unit: Limit['unit'];
  readonly amount: string;
  readonly period: Limit['period'];
}

export const newLimit: LimitForm = { unit: 'dollars', amount: '', period: 'month' };

export function toLimitForm({ unit, amount, period }: Limit): LimitForm {
  return { unit, period, amount: String(amount) };
}

export function formatAmount(amount: number, unit: Limit['unit']): string {
  return unit === 'dollars' ? formatDollars(amount) : formatCount(amount);
}
