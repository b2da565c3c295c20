import type { ResourceTemplateType } from '@modelcontextprotocol/client';
import type { Entry } from './entry.ts';

/** The first template that could have made the address (RFC 6570). */
export function findTemplate(
  templates: readonly Entry<ResourceTemplateType>[],
  uri: string,
): Entry<ResourceTemplateType> | undefined {
  return templates.find(({ ownName }) => couldMake(ownName, uri));
}

/**
 * True when the fixed parts of the template stand in the address, in their order. Which values make it
 * is for the server to say; this takes time in proportion to the address, whatever the template.
 */
export function couldMake(template: string, uri: string): boolean {
  const [head = '', ...rest] = template.split(/\{[^{}]*\}/);
  if (rest.length === 0) return template === uri;
  if (!uri.startsWith(head)) return false;
  let place = head.length;
  const tail = rest.pop() ?? '';
  for (const part of rest) {
    const found = uri.indexOf(part, place);
    if (found < 0) return false;
    place = found + part.length;
  }
  return uri.length - tail.length >= place && uri.endsWith(tail);
}
