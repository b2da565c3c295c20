import type {
  ChatRequest,
  Message,
  OutputFormat,
  Reasoning,
  TextPart,
} from '../../conversation/request.ts';
import {
  expectCount,
  expectList,
  expectName,
  expectObject,
  expectText,
  invalid,
  isAbsent,
  readFlag,
  readShare,
  Remainder,
  type Fields,
} from './fields.ts';
import { readMessages } from './messages.ts';
import { readTextBlock } from './blocks.ts';
import { readToolChoice, readTools } from './tools.ts';

const known: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'system',
  'max_tokens',
  'temperature',
  'top_p',
  'top_k',
  'stop_sequences',
  'stream',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'output_format',
  'context_management',
]);

/** The request in our words; throws `invalid` with `detail.param` for what makes no sense. */
export function readRequest(body: Fields): ChatRequest {
  const remainder = new Remainder();
  const model = expectName(body.model, 'model');
  const maxTokens = expectCount(body.max_tokens, 'max_tokens', 1);
  const isStream = readFlag(body.stream, 'stream') ?? false;
  const system = readSystem(body.system, remainder);
  const messages = readMessages(body.messages, remainder);
  const tools = readTools(body.tools, remainder);
  const choice = readToolChoice(body.tool_choice);
  const sampling = readSampling(body);
  const output = readOutput(body, remainder);
  remainder.keepOthers(body, known);
  if (clearsMore(body.context_management))
    remainder.keep('context_management', body.context_management);
  const { extras, needsTranslation } = remainder;
  return {
    model,
    messages: system ? [system, ...messages] : messages,
    tools,
    ...choice,
    maxTokens,
    ...sampling,
    ...output,
    isStream,
    ...(isStream ? { wantsUsage: true } : {}),
    ...(needsTranslation ? { needsTranslation } : {}),
    extras,
    extrasDialect: 'anthropic',
    fieldNames: {
      ...fieldNames,
      ...(isAbsent(body.thinking) ? {} : { reasoning_effort: 'thinking' }),
      ...(isAbsent(body.output_format) ? {} : { response_format: 'output_format' }),
    },
  };
}

const fieldNames = {
  parallel_tool_calls: 'tool_choice.disable_parallel_tool_use',
  reasoning_effort: 'output_config.effort',
  response_format: 'output_config.format',
  stop: 'stop_sequences',
};

function readSystem(value: unknown, remainder: Remainder): Message | undefined {
  if (isAbsent(value)) return undefined;
  if (typeof value === 'string') return { role: 'system', parts: [{ type: 'text', text: value }] };
  const parts: TextPart[] = expectList(value, 'system').map((item, index) => {
    const path = `system.${index}`;
    return readTextBlock(expectObject(item, path), path, remainder);
  });
  return parts.length > 0 ? { role: 'system', parts } : undefined;
}

function readSampling(body: Fields): Partial<ChatRequest> {
  const topK = isAbsent(body.top_k) ? undefined : expectCount(body.top_k, 'top_k', 0);
  const stop = isAbsent(body.stop_sequences)
    ? undefined
    : expectList(body.stop_sequences, 'stop_sequences').map((text, index) =>
        expectText(text, `stop_sequences.${index}`),
      );
  return {
    temperature: readShare(body.temperature, 'temperature'),
    topP: readShare(body.top_p, 'top_p'),
    topK,
    stop,
  };
}

const outputFields: ReadonlySet<string> = new Set(['effort', 'format']);

function readOutput(body: Fields, remainder: Remainder): Partial<ChatRequest> {
  const config = isAbsent(body.output_config)
    ? {}
    : expectObject(body.output_config, 'output_config');
  remainder.keepOthers(config, outputFields, 'output_config.');
  const effort = isAbsent(config.effort)
    ? undefined
    : expectName(config.effort, 'output_config.effort');
  const output = readOldFormat(body, config) ?? readFormat(config.format, 'output_config.format');
  return {
    ...(output && { output }),
    reasoning: readThinking(body.thinking, effort, remainder),
  };
}

/** `output_format`, the name that `output_config.format` has had in Anthropic's trials. */
function readOldFormat(body: Fields, config: Fields): OutputFormat | undefined {
  const format = readFormat(body.output_format, 'output_format');
  if (format && !isAbsent(config.format))
    throw invalid('output_format', 'must not stand beside output_config.format');
  return format;
}

function readFormat(value: unknown, path: string): OutputFormat | undefined {
  if (isAbsent(value)) return undefined;
  const { type, schema } = expectObject(value, path);
  if (type !== 'json_schema') throw invalid(`${path}.type`, 'must be "json_schema"');
  return {
    type: 'schema',
    name: 'output',
    schema: expectObject(schema, `${path}.schema`),
    isStrict: true,
  };
}

/** Anthropic's greatest effort is the greatest that all dialects know. */
function readThinking(
  value: unknown,
  named: string | undefined,
  remainder: Remainder,
): Reasoning | undefined {
  const effort = named === 'max' ? 'xhigh' : named;
  if (isAbsent(value)) return effort === undefined ? undefined : { effort };
  const thinking = expectObject(value, 'thinking');
  if (thinking.type === 'enabled') {
    const budgetTokens = expectCount(thinking.budget_tokens, 'thinking.budget_tokens', 1);
    return { budgetTokens, ...(effort === undefined ? {} : { effort }) };
  }
  if (thinking.type === 'adaptive') return { effort: effort ?? 'high' };
  if (thinking.type !== 'disabled') {
    expectName(thinking.type, 'thinking.type');
    remainder.keep('thinking', thinking);
    return effort === undefined ? undefined : { effort };
  }
  // How long an answer without thoughts is to be has no word in other dialects.
  remainder.keep('output_config.effort', named);
  return { effort: 'none' };
}

/** Clearing old thoughts is no more than what other providers do with thoughts anyway. */
function clearsMore(management: unknown): boolean {
  if (isAbsent(management)) return false;
  const { edits, ...others } = expectObject(management, 'context_management');
  if (isAbsent(edits)) return true;
  const isMore = expectList(edits, 'context_management.edits').some((edit) => {
    const { type } = expectObject(edit, 'context_management.edits');
    return typeof type !== 'string' || !type.startsWith('clear_thinking_');
  });
  return isMore || Object.keys(others).length > 0;
}
