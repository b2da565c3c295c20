import type { ExportAttribute, ResourceSpansInput, SpanInput } from '../otlp/export-model.ts';

/** A span of a foreign format, and what OTLP says of its resource and scope. */
export interface ForeignSpan {
  /** Those of its resource; spans with equal ones are of one resource. */
  readonly resource: readonly ExportAttribute[];
  readonly scope: { readonly name: string; readonly version: string } | undefined;
  readonly span: SpanInput;
}

/** Groups spans by resource and scope, in the order in which they come. */
export function groupSpans(spans: readonly ForeignSpan[]): readonly ResourceSpansInput[] {
  const resources = new Map<string, ResourceGroup>();
  for (const foreign of spans) {
    const { resource, scope, span } = foreign;
    const key = keyOf(resource);
    const group = resources.get(key) ?? { attributes: resource, scopes: new Map() };
    resources.set(key, group);
    const scopeKey = JSON.stringify(scope ?? null);
    const scoped = group.scopes.get(scopeKey) ?? { scope, spans: [] };
    group.scopes.set(scopeKey, scoped);
    scoped.spans.push(span);
  }
  return [...resources.values()].map(({ attributes, scopes }) => ({
    resource: { attributes },
    scopes: [...scopes.values()],
  }));
}

/** Microseconds as nanoseconds. */
export function toNs(microseconds: number): bigint {
  return BigInt(microseconds) * 1000n;
}

interface ResourceGroup {
  readonly attributes: readonly ExportAttribute[];
  readonly scopes: Map<
    string,
    { readonly scope: ForeignSpan['scope']; readonly spans: SpanInput[] }
  >;
}

function keyOf(attributes: readonly ExportAttribute[]): string {
  return JSON.stringify(attributes, (_, value: unknown) => {
    if (typeof value === 'bigint') return `int ${value}`;
    return value instanceof Uint8Array ? `bytes ${Buffer.from(value).toString('base64')}` : value;
  });
}
