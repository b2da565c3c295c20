import { fieldsOf, isFields, listOf, numberOf, present, textOf, type Fields } from '../fields.ts';
import { unheardSettings } from '../model-settings.ts';
import { literalText, placeholderText, within } from '../paths.ts';
import { translate } from './expressions.ts';
import type { N8nNode } from './document.ts';
import type { Mapped, N8nKind, N8nReading, PlaceGiven } from './kind.ts';

/** A chain or agent: its text, its instructions, and the model that is attached to it. */
const chain: N8nKind = {
  map: (reading) => {
    const { node, attached, sight } = reading;
    const options = fieldsOf(reading.read('options'));
    const isDefined = node.parameters['promptType'] === 'define' || 'prompt' in node.parameters;
    const prompt = isDefined
      ? (reading.readText('text') ?? reading.readText('prompt'))
      : placeholderText(within(sight.own(), ['chatInput']));
    const messages = listOf(fieldsOf(reading.read('messages'))['messageValues']).map(fieldsOf);
    const systems = messages.filter(({ type }) => (type ?? systemType) === systemType);
    const system = [
      textOf(options['systemMessage']),
      ...systems.map((one) => textOf(one['message'])),
    ];
    const data = present({
      prompt: prompt ?? '',
      system: system.filter((text) => text !== '').join('\n\n') || undefined,
      ...modelSettings(reading),
      responseFormat: parserFormat(reading),
    });
    const tools = attached.filter(({ kind }) => kind === 'ai_tool').map((one) => one.node.name);
    const lost = attached.filter(({ kind }) => lostKinds.has(kind));
    const note =
      tools.length > 0
        ? `a model without its tools (${tools.join(', ')}): use an AgentTask or MCPToolCall`
        : lost.length > 0
          ? `without ${lost.map((one) => one.node.name).join(', ')}`
          : undefined;
    const status = note || !node.type.startsWith('chainLlm') ? 'adapted' : 'exact';
    return { node: { type: 'LLMNode', data }, status, ...(note ? { note } : {}) };
  },
  place: llmPlace,
};

const systemType = 'SystemMessagePromptTemplate';
const lostKinds = new Set(['ai_memory', 'ai_retriever', 'ai_vectorStore', 'ai_document']);

/** What the nodes of models call their answer, and where ours has it. */
function llmPlace({ node, id }: PlaceGiven) {
  const isJson = node.parameters['jsonOutput'] === true || node.type === 'informationExtractor';
  const answer = isJson ? ['json'] : ['text'];
  const names = [
    ['message', 'content'],
    ['output'],
    ['response'],
    ['response', 'text'],
    ['content'],
  ];
  return { root: id, steps: [], aliases: names.map((from) => ({ from, to: answer })) };
}

/** The model's own settings, of the node itself or of the model that is attached. */
function modelSettings(reading: N8nReading): Fields {
  const model = reading.attached.find(({ kind }) => kind === 'ai_languageModel')?.node;
  const parameters = model?.parameters ?? reading.node.parameters;
  const options = fieldsOf(parameters['options']);
  const temperature = numberOf(options['temperature']);
  const maxTokens = numberOf(options['maxTokens'] ?? options['maxTokensToSample']);
  return present({
    model: modelName(parameters),
    temperature: temperature === undefined ? undefined : Math.min(2, Math.max(0, temperature)),
    maxTokens: maxTokens !== undefined && maxTokens >= 1 ? Math.trunc(maxTokens) : undefined,
  });
}

function modelName(parameters: Fields): string | undefined {
  const given = parameters['modelId'] ?? parameters['model'] ?? parameters['modelName'];
  const name = textOf(given) || textOf(fieldsOf(given)['value']);
  return name === '' || name.startsWith('=') ? undefined : name.replace(/^models\//, '');
}

function parserFormat({ attached }: N8nReading): unknown {
  const parser = attached.find(({ kind }) => kind === 'ai_outputParser')?.node;
  return parser && schemaOf(parser.parameters);
}

/** The JSON Schema that a node wants an answer to fit. */
function schemaOf(parameters: Fields): unknown {
  const schema = parseObject(parameters['inputSchema'] ?? parameters['jsonSchema']);
  if (schema) return schema;
  const example = parseObject(parameters['jsonSchemaExample']);
  return example ? schemaLike(example) : 'json';
}

function schemaLike(value: unknown): Fields {
  if (Array.isArray(value)) return { type: 'array', items: schemaLike(value[0] ?? '') };
  if (!isFields(value)) return { type: value === null ? 'string' : typeof value };
  const properties = Object.entries(value).map(([name, one]) => [name, schemaLike(one)] as const);
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: Object.keys(value),
  };
}

function parseObject(text: unknown): Fields | undefined {
  if (isFields(text)) return text;
  try {
    const value: unknown = JSON.parse(textOf(text));
    return isFields(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const openAi: N8nKind = {
  map: (reading): Mapped => {
    const { parameters } = reading.node;
    const resource = textOf(parameters['resource']) || 'text';
    const operation = textOf(parameters['operation']) || 'message';
    const isText = ['text', 'chat'].includes(resource);
    if (!isText || !['message', 'complete', 'response'].includes(operation)) {
      return { status: 'unsupported', note: `${resource}: ${operation} has no counterpart` };
    }
    const messages = messagesOf(reading);
    const given = messages.length > 0 ? { messages } : { prompt: reading.readText('prompt') ?? '' };
    const isJson = parameters['jsonOutput'] === true;
    const data = {
      ...given,
      ...modelSettings(reading),
      ...(isJson ? { responseFormat: 'json' } : {}),
    };
    const left = unheardSettings(fieldsOf(parameters['options']));
    const asked = 'asked through the gateway: its provider must offer the model';
    const note = [asked, ...(left === undefined ? [] : [left])].join('; ');
    return { node: { type: 'LLMNode', data }, status: 'adapted', note };
  },
  place: llmPlace,
};

function messagesOf({ node, sight }: N8nReading) {
  const { messages, prompt, responses } = node.parameters;
  const given = [messages, prompt, responses].map((one) => {
    const { values, messages: old } = fieldsOf(one);
    return listOf(values ?? old);
  });
  return given.flat().map((one) => {
    const { role, content } = fieldsOf(one);
    const name = textOf(role);
    return {
      role: name === 'system' || name === 'assistant' ? name : 'user',
      content: textOf(translate(content ?? '', sight)),
    };
  });
}

const extractor: N8nKind = {
  map: (reading): Mapped => {
    const { parameters } = reading.node;
    const attributes = listOf(fieldsOf(parameters['attributes'])['attributes']).map(fieldsOf);
    const responseFormat =
      attributes.length > 0 ? attributeSchema(attributes) : schemaOf(parameters);
    const options = fieldsOf(reading.read('options'));
    const data = present({
      prompt: reading.readText('text') ?? '',
      system: textOf(options['systemPromptTemplate']) || 'Extract what is asked for from the text.',
      responseFormat,
      ...modelSettings(reading),
    });
    return { node: { type: 'LLMNode', data } };
  },
  place: llmPlace,
};

function attributeSchema(attributes: readonly Fields[]): Fields {
  const properties = attributes.map(({ name, type, description }) => {
    const kind = textOf(type) === 'date' ? 'string' : textOf(type) || 'string';
    return [textOf(name), { type: kind, description: literalText(textOf(description)) }] as const;
  });
  const required = attributes.filter((one) => one['required'] === true);
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: required.map(({ name }) => textOf(name)),
  };
}

const summarizer: N8nKind = {
  map: (reading) => {
    const text = placeholderText(reading.sight.own());
    const data = { prompt: `Summarize in short:\n\n${text}`, ...modelSettings(reading) };
    return { node: { type: 'LLMNode', data }, status: 'adapted' };
  },
  place: llmPlace,
};

/** What asks models. */
export const aiKinds: Readonly<Record<string, N8nKind>> = {
  chainLlm: chain,
  agent: chain,
  openAi,
  informationExtractor: extractor,
  chainSummarization: summarizer,
};

/** A model that others ask has no node: those who ask it name it. */
export function mapAttached(node: N8nNode, kind: string): Mapped {
  if (kind === 'ai_languageModel') {
    const name = modelName(node.parameters);
    const asked = `asked through the gateway${name ? ` as ${name}` : ', which chooses a model'}`;
    const left = unheardSettings(fieldsOf(node.parameters['options']));
    return { status: 'adapted', note: left === undefined ? asked : `${asked}; ${left}` };
  }
  if (kind === 'ai_outputParser') return { status: 'adapted', note: 'the answer’s schema' };
  return { status: 'unsupported', note: `${kind.replace('ai_', '')} has no counterpart` };
}
