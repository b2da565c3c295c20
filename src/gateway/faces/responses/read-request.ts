import type {
  ChatRequest,
  Message,
  OutputFormat,
  Tool,
  ToolChoice,
} from '../../conversation/request.ts';
import {
  requireFieldName,
  booleanOrNone,
  count,
  isAbsent,
  listAt,
  nameAt,
  numberOrNone,
  objectAt,
  textAt,
  textOrNone,
  unsupported,
  wrong,
  type Json,
} from '../openai/fields.ts';
import { anyModel, readEffort, readStreamOptions } from '../openai/read-chat.ts';
import type { Extras } from '../openai/read-messages.ts';
import { readFunction, readSchema } from '../openai/read-tools.ts';
import { readItems } from './read-items.ts';

/**
 * A request of OpenAI's Responses API, as far as it needs no storage and no tool of OpenAI's own.
 * Throws `invalid` with the place of what is wrong or not done here.
 */
export function readRequest(body: Json): ChatRequest {
  refuseStateful(body);
  readStreamOptions(body['stream_options']);
  const extras: Extras = {};
  keepRest(body, extras);
  const { model, reasoning, text } = body;
  const format = isAbsent(text) ? {} : objectAt(text, 'text');
  const verbosity = textOrNone(format['verbosity'], 'text.verbosity');
  if (verbosity !== undefined) extras['verbosity'] = verbosity;
  const thinking = isAbsent(reasoning) ? {} : objectAt(reasoning, 'reasoning');
  return {
    model: isAbsent(model) ? anyModel : nameAt(model, 'model'),
    messages: readMessages(body),
    tools: readTools(body['tools']),
    toolChoice: readToolChoice(body['tool_choice']),
    allowsParallelCalls: booleanOrNone(body['parallel_tool_calls'], 'parallel_tool_calls'),
    maxTokens: numberOrNone(body['max_output_tokens'], 'max_output_tokens', count),
    temperature: numberOrNone(body['temperature'], 'temperature', { min: 0, max: 2 }),
    topP: numberOrNone(body['top_p'], 'top_p', { min: 0, max: 1 }),
    output: readFormat(format['format']),
    reasoning: readEffort(thinking['effort'], 'reasoning.effort', extras),
    isStream: booleanOrNone(body['stream'], 'stream') ?? false,
    wantsUsage: true,
    extras,
    extrasDialect: 'openai',
    fieldNames,
    echo: echoOf(body),
  };
}

const fieldNames = {
  messages: 'input',
  max_tokens: 'max_output_tokens',
  reasoning_effort: 'reasoning.effort',
  response_format: 'text.format',
  verbosity: 'text.verbosity',
};

const refused: ReadonlyMap<string, string> = new Map([
  ['previous_response_id', 'is not supported: nothing is stored here, send the whole conversation'],
  ['conversation', 'is not supported: nothing is stored here, send the whole conversation'],
  ['background', 'is not supported'],
  ['prompt', 'is not supported: no prompts are stored here'],
  ['top_logprobs', 'is not supported'],
]);

function refuseStateful(body: Json): void {
  for (const [name, why] of refused) {
    const value = body[name];
    if (!isAbsent(value) && value !== false && value !== 0) throw unsupported(name, why);
  }
  booleanOrNone(body['store'], 'store');
  const { truncation, include } = body;
  if (!isAbsent(truncation) && truncation !== 'disabled') {
    throw unsupported('truncation', 'must be disabled: nothing is left out of a conversation');
  }
  if (isAbsent(include)) return;
  const logprobs = listAt(include, 'include').indexOf('message.output_text.logprobs');
  if (logprobs >= 0) throw unsupported(`include[${logprobs}]`, 'is not supported');
}

/** Read here, or of no meaning without OpenAI's own tools and storage. */
const known = new Set([
  ...refused.keys(),
  'model',
  'input',
  'instructions',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'max_output_tokens',
  'max_tool_calls',
  'temperature',
  'top_p',
  'text',
  'reasoning',
  'stream',
  'stream_options',
  'store',
  'metadata',
  'truncation',
  'include',
]);

function keepRest(body: Json, extras: Extras): void {
  for (const name in body) {
    if (known.has(name) || isAbsent(body[name])) continue;
    requireFieldName(name);
    extras[name] = body[name];
  }
}

function readMessages(body: Json): Message[] {
  const messages = readItems(body['input']);
  const instructions = textOrNone(body['instructions'], 'instructions');
  if (instructions === undefined || instructions === '') return messages;
  return [{ role: 'system', parts: [{ type: 'text', text: instructions }] }, ...messages];
}

function readTools(value: unknown): Tool[] {
  if (isAbsent(value)) return [];
  return listAt(value, 'tools').map((item, index) => {
    const at = `tools[${index}]`;
    const type = textAt(objectAt(item, at)['type'], `${at}.type`);
    if (type === 'function') return readFunction(item, at);
    throw unsupported(`${at}.type`, `${type} is not supported: only functions are`);
  });
}

function readToolChoice(value: unknown): ToolChoice | undefined {
  if (isAbsent(value)) return undefined;
  if (value === 'auto' || value === 'none' || value === 'required') return value;
  if (typeof value === 'string') throw wrong('tool_choice', 'must be auto, none or required');
  const { type, name } = objectAt(value, 'tool_choice');
  if (type === 'function') return { name: nameAt(name, 'tool_choice.name') };
  throw unsupported('tool_choice.type', `${String(type)} is not supported: only function is`);
}

function readFormat(value: unknown): OutputFormat | undefined {
  if (isAbsent(value)) return undefined;
  const { type } = objectAt(value, 'text.format');
  switch (textAt(type, 'text.format.type')) {
    case 'text':
      return undefined;
    case 'json_object':
      return { type: 'json' };
    case 'json_schema':
      return readSchema(value, 'text.format');
    default:
      throw wrong('text.format.type', 'must be text, json_object or json_schema');
  }
}

const repeated = [
  'instructions',
  'max_output_tokens',
  'max_tool_calls',
  'metadata',
  'parallel_tool_calls',
  'prompt_cache_key',
  'reasoning',
  'safety_identifier',
  'temperature',
  'text',
  'tool_choice',
  'tools',
  'top_p',
  'user',
];

function echoOf(body: Json): Record<string, unknown> {
  const echo: Record<string, unknown> = {};
  for (const name of repeated) if (!isAbsent(body[name])) echo[name] = body[name];
  return echo;
}
