import { placeholderNode, type Draft, type DraftLink, type DraftStep } from '../draft.ts';
import {
  fieldsOf,
  isFields,
  listOf,
  numberOf,
  present,
  textOf,
  valueAt,
  type Fields,
} from '../fields.ts';
import { unheardSettings } from '../model-settings.ts';
import { NodeIds } from '../node-ids.ts';
import { literalText } from '../paths.ts';

/** Reads a flow of Langflow; the Python that every node carries is left behind. */
export function importLangflow(document: Fields): Draft {
  return new LangflowImport(document).draft();
}

interface LangflowNode {
  readonly id: string;
  readonly type: string;
  readonly label: string;
  readonly template: Fields;
  readonly position: { readonly x: number; readonly y: number };
}

interface LangflowEdge {
  readonly source: string;
  readonly target: string;
  /** The field of the target that it fills. */
  readonly field: string;
}

const modelType = /Model$|^LanguageModelComponent$|^Agent$|^ToolCallingAgent$/;
const inputType = /^(ChatInput|TextInput|TextInputComponent)$/;
const outputType = /^(ChatOutput|TextOutput|TextOutputComponent)$/;
const depthMax = 20;

class LangflowImport {
  readonly #name: string;
  readonly #description: string;
  readonly #nodes: readonly LangflowNode[];
  readonly #edges: readonly LangflowEdge[];
  readonly #ids = new NodeIds();

  constructor(document: Fields) {
    const data = fieldsOf(document['data']);
    this.#name = textOf(document['name']);
    this.#description = textOf(document['description']);
    this.#nodes = listOf(data['nodes']).filter(isFields).map(readNode).filter(isNoNote);
    this.#edges = listOf(data['edges']).filter(isFields).map(readEdge);
    for (const { id, label } of this.#nodes) this.#ids.allot(id, label);
  }

  draft(): Draft {
    const links: DraftLink[] = this.#edges.map(({ source, target }) => ({
      from: source,
      to: target,
    }));
    const steps = this.#nodes.map((node) => this.#step(node));
    return { name: this.#name, description: this.#description, steps, links, warnings: [] };
  }

  #step(node: LangflowNode): DraftStep {
    const { id: key, type, label, position } = node;
    const settings = settingsOf(node.template);
    const known = { key, source: label, type, position, settings };
    if (inputType.test(type)) {
      return {
        ...known,
        status: 'exact',
        isPassed: true,
        note: 'what is said is the input message',
      };
    }
    if (outputType.test(type)) return { ...known, status: 'exact', isPassed: true };
    if (isPrompt(type)) {
      const note = 'its text stands in the prompts that it fills';
      return { ...known, status: 'exact', isPassed: true, note };
    }
    const id = this.#ids.allot(key, label);
    if (!modelType.test(type)) {
      const note = 'its Python is never run: use a component or an HttpRequest';
      const drawn = placeholderNode(known, note, settings);
      return { ...known, status: 'unsupported', note, node: { ...drawn, id } };
    }
    const tools = this.#edges.filter((edge) => edge.target === key && edge.field === 'tools');
    const isLess = tools.length > 0;
    const notes = [
      isLess ? 'a model without its tools: use an AgentTask' : 'asked through the gateway',
      unheardSettings(settings) ?? [],
    ].flat();
    return {
      ...known,
      status: isLess ? 'unsupported' : 'adapted',
      note: notes.join('; '),
      node: { type: 'LLMNode', label: label.slice(0, 200), data: this.#modelData(node), id },
    };
  }

  #modelData(node: LangflowNode): Fields {
    const { template } = node;
    const read = (field: string) => this.#fieldText(node, field);
    const model = textOf(valueAt(template, 'model_name', 'value'));
    const temperature = numberOf(valueAt(template, 'temperature', 'value'));
    const maxTokens = numberOf(valueAt(template, 'max_tokens', 'value'));
    return present({
      prompt: read('input_value') || '{{ inputs.message }}',
      system: read('system_message') || read('system_prompt') || undefined,
      model: model || undefined,
      temperature,
      maxTokens: maxTokens !== undefined && maxTokens >= 1 ? Math.trunc(maxTokens) : undefined,
    });
  }

  /** What fills a field: the nodes that lead there, else its own text. */
  #fieldText({ id, template }: LangflowNode, field: string, depth = 0): string {
    const sources = this.#edges.filter((edge) => edge.target === id && edge.field === field);
    if (sources.length === 0) return literalText(textOf(valueAt(template, field, 'value')));
    return sources.map(({ source }) => this.#valueOf(source, depth + 1)).join('\n');
  }

  #valueOf(id: string, depth: number): string {
    const node = this.#nodes.find((one) => one.id === id);
    if (!node || depth > depthMax) return '';
    if (inputType.test(node.type)) return '{{ inputs.message }}';
    if (outputType.test(node.type)) return this.#fieldText(node, 'input_value', depth);
    if (isPrompt(node.type)) return this.#promptText(node, depth);
    const name = this.#ids.allot(id, node.label);
    return modelType.test(node.type) ? `{{ ${name}.text }}` : `{{ ${name} }}`;
  }

  /** `{name}` in a prompt stands for the field of that name, `{{` and `}}` for one brace. */
  #promptText(node: LangflowNode, depth: number): string {
    const text = textOf(valueAt(node.template, 'template', 'value'));
    const pieces: string[] = [''];
    for (const [at, piece] of text.split(/(\{\{|\}\}|\{[A-Za-z_]\w*\})/).entries()) {
      const isField = at % 2 === 1 && piece.length > 2;
      if (isField) pieces.push(piece.slice(1, -1), '');
      else pieces.push(`${pieces.pop()}${at % 2 === 1 ? piece.charAt(0) : piece}`);
    }
    return pieces
      .map((piece, at) => (at % 2 === 0 ? literalText(piece) : this.#fieldText(node, piece, depth)))
      .join('');
  }
}

function isPrompt(type: string): boolean {
  return type === 'Prompt' || type === 'Prompt Template';
}

function isNoNote({ type }: LangflowNode): boolean {
  return !/note/i.test(type) && type !== '';
}

function readNode(raw: Fields): LangflowNode {
  const data = fieldsOf(raw['data']);
  const node = fieldsOf(data['node']);
  const { x, y } = fieldsOf(raw['position']);
  const id = textOf(raw['id']) || textOf(data['id']);
  const type = raw['type'] === 'noteNode' ? '' : textOf(data['type']);
  return {
    id,
    type,
    label: textOf(node['display_name']) || type,
    template: fieldsOf(node['template']),
    position: { x: numberOf(x) ?? 0, y: numberOf(y) ?? 0 },
  };
}

function readEdge(raw: Fields): LangflowEdge {
  const field = textOf(valueAt(raw, 'data', 'targetHandle', 'fieldName'));
  return { source: textOf(raw['source']), target: textOf(raw['target']), field };
}

/** The values of the fields, without the program and what only describes them. */
function settingsOf(template: Fields): Fields {
  const values = Object.entries(template)
    .filter(([name, field]) => name !== 'code' && isFields(field) && field['password'] !== true)
    .map(([name, field]) => [name, fieldsOf(field)['value']] as const);
  return present(Object.fromEntries(values));
}
