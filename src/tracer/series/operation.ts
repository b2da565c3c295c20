import { spanKinds } from '../trace/span.ts';

/** What spans of one sort have in common. */
export interface Operation {
  readonly service: string;
  readonly name: string;
  /** One of `spanKinds`. */
  readonly kind: number;
}

const kindNames: readonly string[] = Object.keys(spanKinds);

/** The labels of its two series, `operation` and `self`. */
export function operationLabels({ service, name, kind }: Operation) {
  return [service, name, kindNames[kind] ?? 'unspecified'] as const;
}

/** The kind that a label names. */
export function kindOfLabel(label: string): number {
  return Math.max(0, kindNames.indexOf(label));
}
