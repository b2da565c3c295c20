import type { DraftNode } from '../draft.ts';
import { fieldsOf, listOf, numberOf, present, textOf } from '../fields.ts';
import { unheardSettings } from '../model-settings.ts';
import { placeholderText, type DataPlace } from '../paths.ts';
import type { StepStatus } from '../report.ts';
import type { FlowiseNode } from './node.ts';
import { conditionOf } from './conditions.ts';
import { readRichText, schemaOf, type FindPlace } from './texts.ts';

export interface FlowiseReading {
  readonly node: FlowiseNode;
  readonly find: FindPlace;
  /** What the step before gives. */
  readonly own: DataPlace;
}

export interface MappedFlowise {
  readonly node?: DraftNode;
  readonly status: StepStatus;
  readonly note?: string;
}

type Map = (reading: FlowiseReading) => MappedFlowise;

/** What the nodes of AgentFlow 2 become; those that are missing are not supported. */
export const flowiseKinds: Readonly<Record<string, Map>> = Object.assign(Object.create(null), {
  startAgentflow: () => ({
    status: 'exact',
    note: 'what is asked is the input question; the fields of a form are inputs too',
  }),
  llmAgentflow: (reading: FlowiseReading) => model(reading, 'llm'),
  agentAgentflow: (reading: FlowiseReading) => model(reading, 'agent'),
  conditionAgentflow: condition,
  humanInputAgentflow: ({ node, find }: FlowiseReading) => {
    const message = readRichText(node.inputs['humanInputDescription'], find) || 'Go on?';
    return { node: { type: 'Approval', data: { message } }, status: 'exact' };
  },
  iterationAgentflow: ({ node, find }: FlowiseReading) => {
    const text = readRichText(node.inputs['iterationInput'], find);
    const items = text.startsWith('{{') ? text : (parseJson(text) ?? text);
    return { node: { type: 'Loop', data: { items } }, status: 'exact' };
  },
  httpAgentflow: http,
  directReplyAgentflow: ({ node, find }: FlowiseReading) => {
    const input = { answer: readRichText(node.inputs['directReplyMessage'], find) };
    return { node: { type: 'Transform', data: { input, expression: '$' } }, status: 'exact' };
  },
  executeFlowAgentflow: ({ node, own }: FlowiseReading) => {
    const workflowId = textOf(node.inputs['executeFlowSelectedFlow']);
    const inputs = { question: placeholderText(own) };
    const note = 'import the other flow too, and name it here by its new id';
    return { node: { type: 'SubWorkflow', data: { workflowId, inputs } }, status: 'adapted', note };
  },
});

/** Where the data of a node is. */
export function flowisePlace(name: string, id: string): DataPlace {
  const names = [['output', 'content'], ['output']];
  if (name === 'llmAgentflow' || name === 'agentAgentflow') {
    const aliases = [
      { from: ['output', 'content'], to: ['text'] },
      { from: ['output'], to: ['json'] },
    ];
    return { root: id, steps: [], aliases };
  }
  const to =
    name === 'httpAgentflow' ? ['body'] : name === 'directReplyAgentflow' ? ['result'] : [];
  return { root: id, steps: [], aliases: names.map((from) => ({ from, to })) };
}

// Optional settings, one by one.
// oxlint-disable-next-line complexity
function model({ node, find, own }: FlowiseReading, kind: 'llm' | 'agent'): MappedFlowise {
  const read = (name: string) => node.inputs[`${kind}${name}`];
  const listed = listOf(read('Messages')).map((one) => {
    const { role, content } = fieldsOf(one);
    return { role: roleOf(role), content: readRichText(content, find) };
  });
  const userMessage = readRichText(read('UserMessage'), find);
  const isAsked = userMessage !== '' || listed.some(({ role }) => role === 'user');
  const prompt = userMessage || (isAsked ? undefined : placeholderText(own));
  const config = fieldsOf(read('ModelConfig'));
  const tools = listOf(read('Tools')).length + listOf(read('KnowledgeDocumentStores')).length;
  const data = present({
    messages: listed.length > 0 ? listed : undefined,
    prompt,
    model: textOf(config['customModelName']) || textOf(config['modelName']) || undefined,
    temperature: numberOf(config['temperature']),
    maxTokens: numberOf(config['maxTokens'] ?? config['maxOutputTokens']),
    responseFormat: schemaOf(read('StructuredOutput')),
  });
  const lost = [
    ...(tools > 0 ? ['a model without its tools and documents: use an AgentTask'] : []),
    ...(read('EnableMemory') === true ? ['it does not remember former chats'] : []),
    unheardSettings(config) ?? [],
  ].flat();
  return {
    node: { type: 'LLMNode', data },
    status: lost.length === 0 ? 'exact' : 'adapted',
    ...(lost.length === 0 ? {} : { note: lost.join('; ') }),
  };
}

function roleOf(role: unknown): string {
  if (role === 'system' || role === 'developer') return 'system';
  return role === 'assistant' ? 'assistant' : 'user';
}

function http({ node, find }: FlowiseReading): MappedFlowise {
  const { method, url, headers, queryParams, body, bodyType } = node.inputs;
  const pairs = (value: unknown) => {
    const list = listOf(value).map(fieldsOf);
    const read = list.map((one) => [textOf(one['key']), readRichText(one['value'], find)] as const);
    return read.length > 0 ? Object.fromEntries(read) : undefined;
  };
  const text = readRichText(body, find);
  const isForm = bodyType === 'formData' || bodyType === 'xWwwFormUrlencoded';
  if (isForm) return { status: 'unsupported', note: 'forms are not sent: use JSON' };
  const data = present({
    method: (textOf(method) || 'GET').toUpperCase(),
    url: readRichText(url, find),
    headers: pairs(headers),
    query: pairs(queryParams),
    body: text === '' ? undefined : (parseJson(text) ?? text),
  });
  return { node: { type: 'HttpRequest', data }, status: 'exact' };
}

function condition({ node, find }: FlowiseReading): MappedFlowise {
  const notes = new Set<string>();
  const cases = listOf(node.inputs['conditions']).map((one, at) => {
    const { when, note } = conditionOf(fieldsOf(one), find);
    if (note !== undefined) notes.add(note);
    return { when, handle: `case_${at}` };
  });
  const drawn = { type: 'Switch', data: { cases, default: 'else' } };
  if (notes.size === 0) return { node: drawn, status: 'exact' };
  return { node: drawn, status: 'adapted', note: [...notes].join('; ') };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
