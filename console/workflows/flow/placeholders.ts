import { edgesOf, type Components, type Flow } from './flow.ts';
import { findInputs } from './inputs.ts';

/** Something that a setting may name. */
export interface Reference {
  /** As conditions write it; placeholders put it between braces. */
  readonly path: string;
  /** What it belongs to: a node, the inputs or the loop around. */
  readonly group: string;
}

/** What the settings of a node may name: outputs of nodes before it, inputs, and the round of its loop. */
export function referencesFor(
  flow: Flow,
  id: string,
  components: Components,
): readonly Reference[] {
  const before = reach(flow, id, 'back');
  const behind = reach(flow, id, 'on');
  const nodes = flow.nodes.filter((node) => before.has(node.id) && node.id !== id);
  const isLooped = nodes.some((node) => node.type === 'Loop' && behind.has(node.id));
  return [
    ...nodes.flatMap((node) =>
      Object.keys(components.get(node.type)?.outputs ?? {}).map((output) => ({
        path: `${pathOf(node.id)}.${output}`,
        group: node.label ? `${node.label} (${node.id})` : node.id,
      })),
    ),
    ...(isLooped ? ['loop.item', 'loop.index'].map((path) => ({ path, group: 'loop' })) : []),
    ...findInputs(flow).map((name) => ({ path: `inputs${memberOf(name)}`, group: 'inputs' })),
  ];
}

function pathOf(id: string): string {
  return isName(id) ? id : `nodes["${id}"]`;
}

function memberOf(name: string): string {
  return isName(name) ? `.${name}` : `["${name}"]`;
}

function isName(text: string): boolean {
  return /^[A-Za-z_]\w*$/.test(text);
}

function reach(flow: Flow, id: string, way: 'back' | 'on'): ReadonlySet<string> {
  const found = new Set<string>();
  const open = [id];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const { source, target } of edgesOf(flow)) {
      const [from, to] = way === 'on' ? [source, target] : [target, source];
      if (from !== next || found.has(to)) continue;
      found.add(to);
      open.push(to);
    }
  }
  return found;
}
