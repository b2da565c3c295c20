import type { ChatRequest, Reasoning } from '../../conversation/request.ts';
import { isRecord } from '../../dialects/untrusted.ts';
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
  unsupported,
  wrong,
  type Json,
} from './fields.ts';
import { readMessages, type Extras } from './read-messages.ts';
import { readResponseFormat, readTools, readToolChoice } from './read-tools.ts';

/** What a request without a model asks for. */
export const anyModel = 'auto-route';

/**
 * A chat completion request. Throws `invalid` with the place of a wrong value; fields that are not
 * known here go to `extras`, whose upstream may know them.
 */
export function readChat(body: Json): ChatRequest {
  const extras: Extras = {};
  const messages = readMessages(body['messages'], extras);
  const tools = readTools(body['tools'], extras);
  keepRest(body, extras);
  const { model } = body;
  const request: Writable<ChatRequest> = {
    model: isAbsent(model) ? anyModel : nameAt(model, 'model'),
    messages,
    tools,
    isStream: booleanOrNone(body['stream'], 'stream') ?? false,
    extras,
    extrasDialect: 'openai',
  };
  readSampling(body, request);
  readCalling(body, request, extras);
  const { wantsUsage, isPadded } = readStreamOptions(body['stream_options']);
  if (request.isStream) {
    request.wantsUsage = wantsUsage;
    if (!isPadded) extras['stream_options.include_obfuscation'] = false;
  }
  return request;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

const refused: ReadonlyMap<string, string> = new Map([
  ['functions', 'is not supported: use tools'],
  ['function_call', 'is not supported: use tool_choice'],
]);

const known = new Set([
  'model',
  'messages',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'top_k',
  'stop',
  'seed',
  'frequency_penalty',
  'presence_penalty',
  'n',
  'response_format',
  'reasoning_effort',
  'stream',
  'stream_options',
]);

function keepRest(body: Json, extras: Extras): void {
  for (const name in body) {
    const value = body[name];
    if (known.has(name) || isAbsent(value)) continue;
    const why = refused.get(name);
    if (why !== undefined) throw unsupported(name, why);
    requireFieldName(name);
    if (!isDefault(name, value)) extras[name] = value;
  }
}

function isDefault(name: string, value: unknown): boolean {
  if (name === 'logprobs') return value === false;
  if (name === 'logit_bias') return isRecord(value) && Object.keys(value).length === 0;
  return name === 'modalities' && Array.isArray(value) && value.every((item) => item === 'text');
}

const oneToTwo = { min: 0, max: 2 };
const share = { min: 0, max: 1 };
const penalty = { min: -2, max: 2 };
const choices = { ...count, max: 128 };
const tops = { ...count, min: -1 };
const seeds = { ...count, min: Number.MIN_SAFE_INTEGER };

function readSampling(body: Json, request: Writable<ChatRequest>): void {
  request.temperature = numberOrNone(body['temperature'], 'temperature', oneToTwo);
  request.topP = numberOrNone(body['top_p'], 'top_p', share);
  request.topK = numberOrNone(body['top_k'], 'top_k', tops);
  request.frequencyPenalty = numberOrNone(body['frequency_penalty'], 'frequency_penalty', penalty);
  request.presencePenalty = numberOrNone(body['presence_penalty'], 'presence_penalty', penalty);
  request.seed = numberOrNone(body['seed'], 'seed', seeds);
  request.choices = numberOrNone(body['n'], 'n', choices);
  request.stop = readStop(body['stop']);
  const maxTokens = numberOrNone(body['max_tokens'], 'max_tokens', count);
  request.maxTokens =
    numberOrNone(body['max_completion_tokens'], 'max_completion_tokens', count) ?? maxTokens;
}

function readStop(value: unknown): readonly string[] | undefined {
  if (isAbsent(value)) return undefined;
  if (typeof value === 'string') return [value];
  if (!Array.isArray(value)) throw wrong('stop', 'must be a string or a list of strings');
  if (value.length === 0) return undefined;
  return listAt(value, 'stop').map((item, index) => textAt(item, `stop[${index}]`));
}

function readCalling(body: Json, request: Writable<ChatRequest>, extras: Extras): void {
  request.toolChoice = readToolChoice(body['tool_choice'], extras);
  request.allowsParallelCalls = booleanOrNone(body['parallel_tool_calls'], 'parallel_tool_calls');
  request.output = readResponseFormat(body['response_format'], extras);
  request.reasoning = readEffort(body['reasoning_effort'], 'reasoning_effort', extras);
}

const efforts = new Set(['none', 'minimal', 'low', 'medium', 'high', 'xhigh']);
/** Words of Groq and DeepSeek for an effort, which nobody else has. */
const otherEfforts = new Set(['default', 'max']);

/** How much to think; a word that only some providers have goes to `extras`. */
export function readEffort(value: unknown, at: string, extras: Extras): Reasoning | undefined {
  if (isAbsent(value)) return undefined;
  const effort = textAt(value, at);
  if (efforts.has(effort)) return { effort };
  if (!otherEfforts.has(effort)) throw wrong(at, `must be one of ${[...efforts].join(', ')}`);
  extras['reasoning_effort'] = effort;
  return undefined;
}

/** What is asked of a stream; that of a whole answer is looked at too, and of no meaning. */
export function readStreamOptions(value: unknown): { wantsUsage: boolean; isPadded: boolean } {
  const options = isAbsent(value) ? {} : objectAt(value, 'stream_options');
  const at = (name: string) => booleanOrNone(options[name], `stream_options.${name}`);
  return {
    wantsUsage: at('include_usage') ?? false,
    isPadded: at('include_obfuscation') ?? true,
  };
}
