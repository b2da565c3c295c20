import type { ChatRequest, OutputFormat, Tool, ToolChoice } from '../../conversation/request.ts';
import { effortOf, nearestEffort } from '../effort.ts';
import { firstUnsaidInChat } from '../telling-fields.ts';
import { writeMessages } from './chat-messages.ts';
import { isPlace, putAt } from './places.ts';

/** The path of chat completions, below a base URL that ends in the version. */
export const chatPath = '/chat/completions';

/**
 * The body of a chat completion. Fields of a client that spoke this dialect go along as they came;
 * a stream always asks for its token counts.
 */
export function writeChat(request: ChatRequest, model: string): Record<string, unknown> {
  const body: Record<string, unknown> = { model };
  const isOwn = speaksOpenAi(request);
  if (isOwn) copyFields(request.extras, body);
  const { heads, flatten } = writeMessages(request.messages, { model, isOwn });
  body['messages'] = heads;
  writeSampling(request, body);
  writeLimits(request, model, body);
  writeTools(request, body);
  const effort = writeEffort(request, model);
  if (effort !== undefined) body['reasoning_effort'] = effort;
  if (request.output) body['response_format'] = writeOutput(request.output);
  if (request.isStream) {
    body['stream'] = true;
    body['stream_options'] = { include_usage: true };
  }
  if (isOwn) putPlaces(request.extras, body);
  body['messages'] = flatten();
  return body;
}

/** The first thing of a request that OpenAI's chat completions have no word for. */
export function findUnsupported(
  request: ChatRequest,
  model: string = request.model,
): string | undefined {
  const file = findFileByUrl(request);
  if (file !== undefined || speaksOpenAi(request)) return file;
  if (request.topK !== undefined) return 'top_k';
  // To be gone on with: OpenAI would answer anew.
  if (request.messages.at(-1)?.role === 'assistant') return 'messages';
  return findThinking(request, model) ?? firstUnsaidInChat(request.extras);
}

function findThinking(request: ChatRequest, model: string): string | undefined {
  const { reasoning, extrasDialect } = request;
  if (!reasoning) return undefined;
  if (reasoning.effort !== 'none') return thoughtless.test(model) ? 'reasoning_effort' : undefined;
  if (!alwaysThinking.test(model)) return undefined;
  return extrasDialect === 'anthropic' ? 'thinking' : 'reasoning_effort';
}

/** OpenAI's models that refuse to be told how much to think. */
const thoughtless = /(?:^|\/)(?:gpt-4|gpt-3\.5|chatgpt-4)/;

/** OpenAI's models that cannot be told not to think. */
const alwaysThinking = /(?:^|\/)o[1-9](?:$|[-.:@])/;

/** Names of models that think: they take `max_completion_tokens` and refuse `max_tokens`. */
const thinking = /(?:^|\/)(?:o[1-9]|gpt-[5-9])(?:$|[-.:@])/;

function speaksOpenAi({ extrasDialect }: ChatRequest): boolean {
  return extrasDialect === 'openai';
}

function copyFields(extras: ChatRequest['extras'], body: Record<string, unknown>): void {
  for (const name in extras) if (!isPlace(name)) body[name] = extras[name];
}

function putPlaces(extras: ChatRequest['extras'], body: Record<string, unknown>): void {
  for (const name in extras) if (isPlace(name)) putAt(body, name, extras[name]);
}

function writeSampling(request: ChatRequest, body: Record<string, unknown>): void {
  const { stop } = request;
  const fields = {
    temperature: request.temperature,
    top_p: request.topP,
    top_k: request.topK,
    stop: stop?.length === 1 ? stop[0] : stop,
    seed: request.seed,
    frequency_penalty: request.frequencyPenalty,
    presence_penalty: request.presencePenalty,
    n: request.choices,
  };
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) body[name] = value;
}

function writeLimits(
  { maxTokens }: ChatRequest,
  model: string,
  body: Record<string, unknown>,
): void {
  if (maxTokens === undefined) return;
  body[thinking.test(model) ? 'max_completion_tokens' : 'max_tokens'] = maxTokens;
}

function writeTools(request: ChatRequest, body: Record<string, unknown>): void {
  const { tools, toolChoice, allowsParallelCalls } = request;
  const isOwn = speaksOpenAi(request);
  if (tools.length > 0) body['tools'] = tools.map((tool) => writeTool(tool, isOwn));
  if (toolChoice !== undefined) body['tool_choice'] = writeChoice(toolChoice);
  if (allowsParallelCalls !== undefined) body['parallel_tool_calls'] = allowsParallelCalls;
}

function writeTool({ name, description, parameters, isStrict, cache }: Tool, isOwn: boolean) {
  return {
    type: 'function',
    function: {
      name,
      ...(description !== undefined && { description }),
      parameters,
      ...(isStrict !== undefined && { strict: isStrict }),
    },
    ...(cache && isOwn && { cache_control: { type: 'ephemeral', ...cache } }),
  };
}

function writeChoice(choice: ToolChoice) {
  return typeof choice === 'string' ? choice : { type: 'function', function: choice };
}

function writeOutput(output: OutputFormat) {
  if (output.type === 'json') return { type: 'json_object' };
  const { name, description, schema, isStrict } = output;
  return {
    type: 'json_schema',
    json_schema: {
      name,
      ...(description !== undefined && { description }),
      schema,
      ...(isStrict !== undefined && { strict: isStrict }),
    },
  };
}

/** An effort that a client of OpenAI's named goes as it is; any other is one that the model knows. */
function writeEffort(request: ChatRequest, model: string): string | undefined {
  const { reasoning } = request;
  if (!reasoning) return undefined;
  const effort = effortOf(reasoning);
  if (effort === 'none' && !speaksOpenAi(request)) return leastEffort(model);
  if (reasoning.effort !== undefined && speaksOpenAi(request)) return effort;
  return nearestEffort(effort, hasGreatestEffort.test(model) ? greatEfforts : commonEfforts);
}

/** What every model that thinks knows. */
const commonEfforts = ['low', 'medium', 'high'];
const greatEfforts = [...commonEfforts, 'xhigh'];

/** OpenAI's models that know `xhigh`; others refuse it. */
const hasGreatestEffort = /(?:^|\/)(?:gpt-5\.(?:[2-9]|\d\d)|gpt-5\.1-codex-max|gpt-(?:[6-9]|\d\d))/;

/** No thought at all is what most models do unasked; those of OpenAI's that do not take the least. */
function leastEffort(model: string): string | undefined {
  if (!thinking.test(model)) return undefined;
  return /(?:^|\/)gpt-5(?:$|-)/.test(model) ? 'minimal' : 'none';
}

function findFileByUrl({ messages }: ChatRequest): string | undefined {
  for (const { role, parts } of messages) {
    if (role !== 'user') continue;
    for (const part of parts) {
      if (part.type === 'file' && part.source.kind === 'url') return part.at ?? 'file_url';
    }
  }
  return undefined;
}
