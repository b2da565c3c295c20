import type { Tool } from '@modelcontextprotocol/client';
import { createHash } from 'node:crypto';
import type { Connection, Pins } from '../connections/connection.ts';

/** A tool that is not what was agreed to, with both digests where there are two. */
export interface ToolDrift {
  readonly name: string;
  readonly change: 'changed' | 'added' | 'removed';
  readonly pinned?: string;
  readonly current?: string;
}

/** SHA-256 in base64url of what a model is told of a tool: name, description and both schemas. */
export function digestTool({ name, description, inputSchema, outputSchema }: Tool): string {
  const text = canonical({ name, description, inputSchema, outputSchema });
  return createHash('sha256').update(text).digest('base64url');
}

/** The digests of all tools, to be agreed to now. */
export function pinTools(tools: readonly Tool[], pinnedAtMs: number): Pins {
  return { tools: digestsOf(tools), pinnedAtMs };
}

/** What differs from the pins; nothing before there are any. In the order of the names. */
export function findDrift({ pins, offer }: Pick<Connection, 'pins' | 'offer'>): ToolDrift[] {
  if (!pins || !offer) return [];
  const current = digestsOf(offer.tools);
  const names = new Set([...Object.keys(pins.tools), ...Object.keys(current)]);
  return [...names].toSorted().flatMap((name) => compare(name, pins.tools[name], current[name]));
}

/** The names and digests of tools; of two with one name the last counts. */
export function digestsOf(tools: readonly Tool[]): Readonly<Record<string, string>> {
  return Object.fromEntries(tools.map((tool) => [tool.name, digestTool(tool)]));
}

function compare(
  name: string,
  pinned: string | undefined,
  current: string | undefined,
): readonly ToolDrift[] {
  if (pinned === current) return [];
  if (pinned === undefined)
    return current === undefined ? [] : [{ name, change: 'added', current }];
  if (current === undefined) return [{ name, change: 'removed', pinned }];
  return [{ name, change: 'changed', pinned, current }];
}

/** JSON with sorted keys: the order in which a server writes them says nothing. */
function canonical(value: unknown): string {
  return (
    JSON.stringify(value, (_key, inner: unknown) => {
      if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner;
      return Object.fromEntries(
        Object.entries(inner).toSorted(([left], [right]) => (left < right ? -1 : 1)),
      );
    }) ?? ''
  );
}
