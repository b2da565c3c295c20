import { fieldsOf, isFields, listOf, numberOf, textOf, type Fields } from '../fields.ts';

export interface N8nNode {
  readonly name: string;
  /** Without the package: `httpRequest`. */
  readonly type: string;
  readonly version: number;
  readonly parameters: Fields;
  readonly isDisabled: boolean;
  readonly hasCredentials: boolean;
  readonly position: { readonly x: number; readonly y: number };
  /** The node as it is in the document. */
  readonly raw: Fields;
}

export interface N8nLink {
  readonly from: string;
  readonly to: string;
  /** `main`, or what one node is to another: `ai_languageModel`, `ai_tool`, … */
  readonly kind: string;
  /** Of the source, from 0. */
  readonly output: number;
  /** Of the target, from 0. */
  readonly input: number;
}

export interface N8nDocument {
  readonly name: string;
  readonly nodes: readonly N8nNode[];
  readonly links: readonly N8nLink[];
  /** Of the workflow as a whole. */
  readonly settings: Fields;
}

export function isN8n(document: Fields): boolean {
  const { nodes, connections } = document;
  const named = listOf(nodes).every((node) => isFields(node) && typeof node['name'] === 'string');
  return Array.isArray(nodes) && isFields(connections) && named;
}

/** Nodes and links; links to nodes that are not there are left out. */
export function readN8n(document: Fields): N8nDocument {
  const nodes = listOf(document['nodes']).filter(isFields).map(readNode);
  const names = new Set(nodes.map(({ name }) => name));
  const links = Object.entries(fieldsOf(document['connections']))
    .flatMap(([from, kinds]) => readLinks(from, fieldsOf(kinds)))
    .filter(({ from, to }) => names.has(from) && names.has(to));
  const settings = fieldsOf(document['settings']);
  return { name: textOf(document['name']), nodes, links, settings };
}

function readNode(raw: Fields): N8nNode {
  const [x, y] = listOf(raw['position']);
  return {
    name: textOf(raw['name']),
    type: textOf(raw['type']).replace(/^.*\./, ''),
    version: numberOf(raw['typeVersion']) ?? 1,
    parameters: fieldsOf(raw['parameters']),
    isDisabled: raw['disabled'] === true,
    hasCredentials: Object.keys(fieldsOf(raw['credentials'])).length > 0,
    position: { x: numberOf(x) ?? 0, y: numberOf(y) ?? 0 },
    raw,
  };
}

function readLinks(from: string, kinds: Fields): N8nLink[] {
  return Object.entries(kinds).flatMap(([kind, outputs]) =>
    listOf(outputs).flatMap((targets, output) =>
      listOf(targets).flatMap((target) => {
        const to = fieldsOf(target)['node'];
        const input = numberOf(fieldsOf(target)['index']) ?? 0;
        return typeof to === 'string' ? [{ from, to, kind, output, input }] : [];
      }),
    ),
  );
}
