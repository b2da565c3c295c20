import { isSecretHeader } from '../components/secret-fields.ts';
import { isTemplate } from '../flow/expressions/templates.ts';
import type { FlowNode } from '../flow/flow.ts';

/** The headers of a request whose name says that their value is secret; of other nodes, none. */
export function secretHeadersOf({ type, data }: FlowNode): readonly string[] {
  const { headers } = data;
  if (type !== 'HttpRequest' || typeof headers !== 'object' || headers === null) return [];
  return Object.keys(headers).filter(isSecretHeader);
}

/** A node with some of its headers changed, as secret settings are. */
export function changeHeaders(
  node: FlowNode,
  change: (value: unknown, name: string) => unknown,
): FlowNode {
  const names = secretHeadersOf(node);
  if (names.length === 0) return node;
  const headers = headersOf(node);
  const changed = names.map((name) => [name, change(headers[name], name)] as const);
  const data = { ...node.data, headers: { ...headers, ...Object.fromEntries(changed) } };
  return { ...node, data };
}

/** The headers that a node sets; none where they are no object. */
export function headersOf({ data: { headers } }: FlowNode): Readonly<Record<string, unknown>> {
  return typeof headers === 'object' && headers !== null ? { ...headers } : {};
}

/** The text that a secret setting is sealed as; undefined where it is no fixed text or number. */
export function literalOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && !isTemplate(value) ? value : undefined;
}
