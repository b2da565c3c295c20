import type { SpanHead } from '../trace/span.ts';

/** The same for all spans of an operation. */
export function operationKey({
  service,
  name,
  kind,
}: Pick<SpanHead, 'service' | 'name' | 'kind'>): string {
  return `${service}\0${name}\0${kind}`;
}
