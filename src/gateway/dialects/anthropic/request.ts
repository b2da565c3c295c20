import type { ChatRequest, Tool, ToolChoice } from '../../conversation/request.ts';
import { isPlace, putAt } from '../openai/places.ts';
import { isRecord } from '../untrusted.ts';
import type { Json } from '../json.ts';
import { writeMark, writeMessages, writeSystem } from './messages.ts';
import { traitsOf, type ModelTraits } from './models.ts';
import { isNative } from './native-fields.ts';
import { closeObjects } from './schema.ts';
import { asksToThink, writeEffort, writeMaxTokens, writeThinking } from './thinking.ts';

/** The body of a request, for the model of that name. */
export function writeChat(request: ChatRequest, model: string): Json {
  const traits = traitsOf(model);
  const system = writeSystem(request);
  const { stop, extras } = request;
  const body: Record<string, unknown> = {
    model,
    max_tokens: writeMaxTokens(request),
    ...(system.length > 0 ? { system } : {}),
    messages: writeMessages(request.messages),
    ...writeTools(request),
    ...(stop && stop.length > 0 ? { stop_sequences: stop } : {}),
    ...writeSampling(request, traits),
    ...writeNative(request),
    ...writeThinking(request, traits),
    ...writeOutput(request, traits),
    ...(request.isStream ? { stream: true } : {}),
  };
  if (request.extrasDialect === 'anthropic') putPlaces(extras, body);
  return body;
}

/** Puts back what Anthropic's clients said deeper inside, such as tools that run there. */
function putPlaces(extras: Json, body: Record<string, unknown>): void {
  for (const name in extras) if (isPlace(name)) putAt(body, name, extras[name]);
}

/** Where a model takes no such field, or not both, what is its default anyway is not said. */
function writeSampling(request: ChatRequest, traits: ModelTraits): Json {
  const { temperature, topP, topK } = request;
  const saysTopP = topP !== undefined && (topP !== 1 || traits.sampling === 'free');
  const isAlone = traits.sampling === 'one' && saysTopP;
  const hasNone = traits.sampling === 'none' || asksToThink(request);
  return {
    ...(temperature === undefined || hasNone || isAlone ? {} : { temperature }),
    ...(saysTopP ? { top_p: topP } : {}),
    ...(topK === undefined ? {} : { top_k: topK }),
  };
}

function writeTools(request: ChatRequest): Json {
  const { tools, toolChoice, allowsParallelCalls, extras } = request;
  const runsThere = Object.keys(extras).some((name) => name.startsWith('tools['));
  if (tools.length === 0 && !runsThere) return {};
  const isSingle = allowsParallelCalls === false;
  const written = tools.map(writeTool);
  if (toolChoice === undefined && !isSingle) return { tools: written };
  return { tools: written, tool_choice: writeChoice(toolChoice ?? 'auto', isSingle) };
}

function writeTool({ name, description, parameters, isStrict, cache }: Tool): Json {
  const hasType = parameters.type !== undefined;
  return {
    name,
    ...(description === undefined ? {} : { description }),
    input_schema: hasType ? parameters : { type: 'object', properties: {}, ...parameters },
    ...(isStrict ? { strict: true } : {}),
    ...writeMark(cache),
  };
}

function writeChoice(choice: ToolChoice, isSingle: boolean): Json {
  if (choice === 'none') return { type: 'none' };
  const single = isSingle ? { disable_parallel_tool_use: true } : {};
  if (typeof choice === 'object') return { type: 'tool', name: choice.name, ...single };
  return { type: choice === 'required' ? 'any' : 'auto', ...single };
}

function writeOutput(request: ChatRequest, traits: ModelTraits): Json {
  const effort = writeEffort(request, traits);
  const { output, extras } = request;
  const native = isRecord(extras.output_config) ? extras.output_config : undefined;
  const schema = output?.type === 'schema' ? output.schema : undefined;
  if (effort === undefined && schema === undefined) return {};
  return {
    output_config: {
      ...native,
      ...(effort === undefined ? {} : { effort }),
      ...(schema ? { format: { type: 'json_schema', schema: closeObjects(schema) } } : {}),
    },
  };
}

/** The fields of Anthropic's own; of another API's only what means the same here. */
function writeNative({ extras, extrasDialect }: ChatRequest): Json {
  const native: Record<string, unknown> = {};
  const isOwn = extrasDialect === 'anthropic';
  for (const name in extras) {
    const value = extras[name];
    if (!isPlace(name) && (isOwn || isNative(name, value))) native[name] = value;
  }
  return native;
}
