import type { Answer } from '../api/contracts.ts';

export type ImportReportData = Answer<'registry', 'POST /registry/import'>;

/** The values that a file asks for and that were not given, each once. */
export function neededBy({ imported, skipped }: ImportReportData): readonly string[] {
  return [...new Set([...imported, ...skipped].flatMap(({ needs }) => needs ?? []))];
}
