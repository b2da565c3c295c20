import type { Span } from '../parts/answers.ts';
import { textOf } from '../parts/attribute-text.ts';

/** Whether a span says any such thing: in its names, its id, its attributes, or what it failed of. */
export function saysSo(span: Span, needle: string): boolean {
  const wanted = needle.toLowerCase();
  const { name, service, agent, spanId, statusMessage = '', tags, events = [] } = span;
  const texts = [name, service, agent, spanId, statusMessage, ...events.map((event) => event.name)];
  return (
    texts.some((text) => text.toLowerCase().includes(wanted)) ||
    Object.entries(tags).some(([key, value]) =>
      `${key}=${textOf(value)}`.toLowerCase().includes(wanted),
    )
  );
}
