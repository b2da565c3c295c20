import { Fault } from '../../../kit/errors.ts';
import { placeholderNode, type Draft, type DraftLink, type DraftStep } from '../draft.ts';
import { textOf, type Fields } from '../fields.ts';
import { NodeIds } from '../node-ids.ts';
import type { DataPlace } from '../paths.ts';
import { flowiseKinds, flowisePlace, type MappedFlowise } from './kinds.ts';
import { readFlowise, type FlowiseEdge, type FlowiseNode } from './node.ts';

/** Reads an AgentFlow 2 of Flowise; of the chatflows before it only what needs no framework. */
export function importFlowise(document: Fields): Draft {
  return new FlowiseImport(document).draft();
}

class FlowiseImport {
  readonly #document: Fields;
  readonly #nodes: readonly FlowiseNode[];
  readonly #edges: readonly FlowiseEdge[];
  readonly #ids = new NodeIds();

  constructor(document: Fields) {
    const { nodes, edges } = readFlowise(document);
    this.#document = document;
    this.#nodes = nodes.filter(({ name }) => !name.startsWith('stickyNote'));
    this.#edges = edges;
    for (const { id, label } of this.#nodes) this.#ids.allot(id, label);
  }

  draft(): Draft {
    const isChatflow = !this.#nodes.some(({ name }) => name.endsWith('Agentflow'));
    const warning =
      'a chatflow is a set of objects of a framework, not a flow: only AgentFlow 2 can be taken over';
    const { name, description } = this.#document;
    return {
      name: textOf(name),
      description: textOf(description),
      steps: this.#nodes.map((node) => this.#step(node)),
      links: [...this.#edges.map((edge) => this.#link(edge)), ...this.#loopLinks()],
      warnings: isChatflow ? [warning] : [],
    };
  }

  #step(node: FlowiseNode): DraftStep {
    const { id: key, label, name, position, parent, inputs } = node;
    const origin = this.#nodes.find((one) => one.id === parent)?.position ?? { x: 0, y: 0 };
    const place = { x: position.x + origin.x, y: position.y + origin.y };
    const known = { key, source: label, type: name, position: place, settings: inputs };
    const mapped = this.#map(node);
    const { status, note } = mapped;
    if (!mapped.node && status !== 'unsupported') return { ...known, status, note, isPassed: true };
    const drawn = mapped.node ?? placeholderNode(known, note ?? '', inputs);
    const id = this.#ids.allot(key, label);
    return { ...known, status, note, node: { ...drawn, label: label.slice(0, 200), id } };
  }

  #map(node: FlowiseNode): MappedFlowise {
    const map = flowiseKinds[node.name];
    if (!map) return { status: 'unsupported', note: reasonFor(node.name) };
    try {
      return map({ node, find: (word) => this.#find(word), own: this.#own(node) });
    } catch (error) {
      if (!(error instanceof Fault) || error.reason !== 'not_translatable') throw error;
      return { status: 'unsupported', note: error.message };
    }
  }

  #find(word: string): DataPlace | undefined {
    if (word === 'question') return { root: 'inputs', steps: ['question'] };
    if (word === '$form') return { root: 'inputs', steps: [] };
    if (word === '$iteration') return { root: 'loop', steps: ['item'] };
    const node = this.#nodes.find(({ id }) => id === word);
    return node && flowisePlace(node.name, this.#ids.allot(node.id, node.label));
  }

  /** The words of the step before, else what was asked. */
  #own({ id }: FlowiseNode): DataPlace {
    const before = this.#edges.find(({ target }) => target === id)?.source;
    const node = this.#nodes.find((one) => one.id === before);
    if (!node || node.name === 'startAgentflow') return { root: 'inputs', steps: ['question'] };
    const isModel = node.name === 'llmAgentflow' || node.name === 'agentAgentflow';
    const root = this.#ids.allot(node.id, node.label);
    if (node.name === 'humanInputAgentflow' || node.name === 'conditionAgentflow') {
      return this.#own(node);
    }
    return {
      root,
      steps: isModel ? ['text'] : node.name === 'iterationAgentflow' ? ['results'] : [],
    };
  }

  #link({ source, target, output }: FlowiseEdge): DraftLink {
    return { from: source, to: target, handle: this.#handle(source, output) };
  }

  #handle(source: string, output: number | undefined): string | undefined {
    const node = this.#nodes.find(({ id }) => id === source);
    if (node?.name === 'humanInputAgentflow') return output === 1 ? 'rejected' : 'approved';
    if (node?.name === 'iterationAgentflow') return 'done';
    if (node?.name !== 'conditionAgentflow' || output === undefined) return undefined;
    const { conditions } = node.inputs;
    return Array.isArray(conditions) && output < conditions.length ? `case_${output}` : 'else';
  }

  /** An iteration holds its steps; a Loop is led into them and back. */
  #loopLinks(): DraftLink[] {
    return this.#nodes.flatMap(({ id, parent }) => {
      if (parent === '') return [];
      const isFirst = !this.#edges.some(({ target }) => target === id);
      const isLast = !this.#edges.some(({ source }) => source === id);
      return [
        ...(isFirst ? [{ from: parent, to: id, handle: 'body' }] : []),
        ...(isLast ? [{ from: id, to: parent }] : []),
      ];
    });
  }
}

function reasonFor(name: string): string {
  if (name === 'customFunctionAgentflow')
    return 'scripts of others are never run: write a Transform';
  if (name === 'loopAgentflow') return 'only a Loop over items may lead back';
  if (name === 'toolAgentflow') return 'call the tool by an MCPToolCall';
  return 'there is no such component';
}
