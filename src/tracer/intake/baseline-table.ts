import type { Baseline, BaselineOf } from '../trace/analysis.ts';

type Operation = Parameters<BaselineOf>[0];

/** Histories of operations; it can be posted between threads. */
export type BaselineTable = ReadonlyMap<string, Baseline>;

/** Under which key a table has an operation. */
export function baselineKey({ service, name, kind }: Operation): string {
  return `${kind} ${service}\n${name}`;
}
