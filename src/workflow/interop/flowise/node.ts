import { fieldsOf, isFields, listOf, numberOf, textOf, type Fields } from '../fields.ts';

export interface FlowiseNode {
  readonly id: string;
  /** What kind it is: `llmAgentflow`. */
  readonly name: string;
  readonly label: string;
  /** The iteration that it lies in. */
  readonly parent: string;
  readonly inputs: Fields;
  readonly position: { readonly x: number; readonly y: number };
}

export interface FlowiseEdge {
  readonly source: string;
  readonly target: string;
  /** Of the source's outputs, from 0; undefined where there is only one. */
  readonly output: number | undefined;
}

/** The nodes and edges of a flow of Flowise. */
export function readFlowise(document: Fields): {
  readonly nodes: readonly FlowiseNode[];
  readonly edges: readonly FlowiseEdge[];
} {
  const nodes = listOf(document['nodes']).filter(isFields).map(readNode);
  const edges = listOf(document['edges'])
    .filter(isFields)
    .map((edge) => {
      const [, output] = /-output-(\d+)$/.exec(textOf(edge['sourceHandle'])) ?? [];
      return {
        source: textOf(edge['source']),
        target: textOf(edge['target']),
        output: numberOf(output),
      };
    });
  return { nodes, edges };
}

function readNode(raw: Fields): FlowiseNode {
  const data = fieldsOf(raw['data']);
  const { x, y } = fieldsOf(raw['position']);
  const id = textOf(raw['id']);
  return {
    id,
    name: textOf(data['name']),
    label: textOf(data['label']) || id,
    parent: textOf(raw['parentNode']) || textOf(raw['parentId']),
    inputs: fieldsOf(data['inputs']),
    position: { x: numberOf(x) ?? 0, y: numberOf(y) ?? 0 },
  };
}
