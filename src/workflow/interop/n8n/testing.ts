import type { Fields } from '../fields.ts';
import { mendDraft } from '../mending.ts';
import { openCompiler } from '../testing-components.ts';
import { importN8n } from './import.ts';

const compiler = openCompiler();

/** What becomes of a document. */
export function convert(document: Fields) {
  const made = mendDraft(importN8n(document), (flow) => compiler.read(flow).faults);
  const { flow } = compiler.read(made.flow);
  if (!flow) throw new Error('the flow does not hold');
  return {
    ...made,
    flow,
    node: (id: string) => flow.nodes.find((one) => one.id === id),
    step: (source: string) => made.steps.find((one) => one.source === source),
    edges: flow.edges.map(
      ({ source, target, sourceHandle }) =>
        `${source}${sourceHandle === undefined ? '' : `:${sourceHandle}`} > ${target}`,
    ),
  };
}

export interface Drawn {
  readonly type: string;
  readonly parameters?: Fields;
  readonly [field: string]: unknown;
}

/** A document of nodes by name and of links `from[:output] > to[:input]`. */
export function documentOf(
  nodes: Readonly<Record<string, Drawn>>,
  ...links: readonly string[]
): Fields {
  const connections: Record<string, { main: { node: string; index: number }[][] }> = {};
  for (const link of links) {
    const [from = '', to = ''] = link.split(' > ');
    const [source = '', output = '0'] = from.split(':');
    const [node = '', index = '0'] = to.split(':');
    const ways = (connections[source] ??= { main: [] }).main;
    while (ways.length <= Number(output)) ways.push([]);
    ways[Number(output)]?.push({ node, index: Number(index) });
  }
  const list = Object.entries(nodes).map(([name, { type, ...rest }]) => {
    const isAi = ['agent', 'chainLlm', 'informationExtractor', 'openAi'].includes(type);
    const prefix = isAi ? '@n8n/n8n-nodes-langchain' : 'n8n-nodes-base';
    return { name, type: `${prefix}.${type}`, typeVersion: 4.2, position: [0, 0], ...rest };
  });
  return { name: 'Test', nodes: list, connections };
}

export const hook = { type: 'webhook' };
