import { settingsOf, type Component, type FlowEdge, type FlowNode } from './flow.ts';

/** The canvas's name for the way out that no `sourceHandle` names; no handle of a flow may be called so. */
export const plainHandle = '*';

export interface Handle {
  readonly id: string;
  /** Empty where there is only one way. */
  readonly label: string;
  /** False for a handle that an edge names and its node does not have. */
  readonly isKnown: boolean;
}

export interface HandleSource {
  readonly node: FlowNode;
  readonly component: Component | undefined;
  /** The edges that leave the node. */
  readonly edges: readonly FlowEdge[];
}

/** The ways out of a node, those included that only its edges know of, so that these can be seen. */
export function handlesOf(source: HandleSource): readonly Handle[] {
  const named = namedHandles(source);
  const used = source.edges.map(({ sourceHandle }) => sourceHandle ?? plainHandle);
  const known = named.some((handle) => handle !== 'error') ? named : [plainHandle, ...named];
  const unknown = [...new Set(used)].filter((handle) => !known.includes(handle));
  return [
    ...known.map((id) => ({ id, label: labelOf(id, known), isKnown: true })),
    // An edge without a handle is taken whatever handle its node ends on.
    ...unknown.map((id) => ({ id, label: labelOf(id, named), isKnown: id === plainHandle })),
  ];
}

function labelOf(id: string, all: readonly string[]): string {
  if (id !== plainHandle) return id;
  return all.length > 1 ? 'always' : '';
}

function namedHandles({ node, component }: HandleSource): readonly string[] {
  const onError = node.onError === 'continue' ? ['error'] : [];
  if (!component) return onError;
  const own = component.hasOwnHandles ? ownHandles(node) : [];
  const fallback = settingsOf(node)['default'];
  const fixed = component.handles.map((handle) =>
    handle === 'default' && typeof fallback === 'string' && fallback ? fallback : handle,
  );
  return [...new Set([...own, ...fixed, ...onError])];
}

/** The handles that settings bring: the cases of a Switch, the `handles` of a Placeholder. */
function ownHandles(node: FlowNode): readonly string[] {
  const { cases, handles } = settingsOf(node);
  const ofCases = Array.isArray(cases) ? cases.map(handleOfCase) : [];
  const listed: readonly unknown[] = Array.isArray(handles) ? handles : [];
  return [...ofCases, ...listed].filter(isName);
}

function handleOfCase(one: unknown): unknown {
  return typeof one === 'object' && one !== null && 'handle' in one ? one.handle : undefined;
}

function isName(handle: unknown): handle is string {
  return typeof handle === 'string' && handle !== '';
}
