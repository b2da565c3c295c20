import { randomInt } from 'node:crypto';
import { Fault } from '../../kit/errors.ts';
import type { GenerateRequest, JsonSchema, Prompt, Tool } from '../inference/request.ts';
import { checkHistory } from './history.ts';
import {
  anyObjectGrammar,
  compileSchema,
  toGrammarText,
  type SchemaGrammar,
} from './grammar/schema-grammar.ts';

/** A generation by a file. */
export interface RuntimeRequest extends GenerateRequest {
  /** Absolute path of a GGUF file. Whether the caller may use it is the caller's concern. */
  readonly modelPath: string;
}

export interface Sampling {
  readonly temperature: number;
  readonly topP: number;
  readonly topK: number;
  readonly minP: number;
  readonly seed: number;
}

/** All three do nothing at 1, 0 and 0. */
export interface Penalties {
  readonly repeat: number;
  readonly frequency: number;
  readonly presence: number;
}

/** A tool with the grammar of its arguments. */
export interface CallableTool extends Tool {
  readonly grammar: SchemaGrammar;
}

/** A request with every default filled in, as the child process takes it. */
export interface Work {
  readonly prompt: Prompt;
  readonly maxTokens: number;
  readonly sampling: Sampling;
  readonly penalties: Penalties | undefined;
  readonly stop: readonly string[];
  /** What the whole answer must match; never beside tools. */
  readonly grammar: string | undefined;
  /** Those that may be called now, and are described to the model. */
  readonly tools: readonly CallableTool[];
  /** Whether the answer begins with a call. */
  readonly mustCall: boolean;
  /** A remembered prompt is rounded otherwise than one read anew, so a seed asks for the latter. */
  readonly isReproducible: boolean;
}

/** How long a request may take when it does not say. */
export const deadlineDefaultMs = 600_000;

const stopsMax = 16;
const stopLengthMax = 256;
const toolsMax = 128;
const textsMax = 2048;
const wholeMax = 2 ** 31 - 1;

/** Fills in the defaults; Fault `invalid` names the first option that is out of range. */
export function resolveRequest(request: GenerateRequest): Work {
  const { maxTokens = wholeMax, stop = [], prompt } = request;
  demand(isWhole(maxTokens, 1), 'maxTokens', 'must be a whole number of at least 1');
  demand(stop.length <= stopsMax, 'stop', `takes at most ${stopsMax} texts`);
  const areStopsSound = stop.every((text) => isBetween(text.length, 1, stopLengthMax));
  demand(areStopsSound, 'stop', `takes texts of 1 to ${stopLengthMax} characters`);
  checkTimes(request.deadlineMs, request.keepAliveMs);
  if ('messages' in prompt) checkHistory(prompt.messages);
  const tools = resolveTools(request);
  return {
    prompt,
    maxTokens,
    sampling: resolveSampling(request),
    penalties: resolvePenalties(request),
    stop,
    grammar: resolveGrammar(request, tools),
    tools,
    mustCall: tools.length > 0 && (request.toolChoice ?? 'auto') !== 'auto',
    isReproducible: request.seed !== undefined,
  };
}

/** Fault `invalid` when a deadline or a keep-alive is no time. */
export function checkTimes(deadlineMs?: number, keepAliveMs?: number): void {
  demand(isWhole(deadlineMs ?? 1, 1), 'deadlineMs', 'must be a whole number of at least 1');
  demand((keepAliveMs ?? 0) >= 0, 'keepAliveMs', 'must be at least 0');
}

/** Fault `invalid` for no texts, too many, or an empty one. */
export function checkTexts(texts: readonly string[]): void {
  demand(isBetween(texts.length, 1, textsMax), 'input', `must be 1 to ${textsMax} texts`);
  demand(!texts.includes(''), 'input', 'must not contain an empty text');
}

function resolveSampling(request: GenerateRequest): Sampling {
  const { temperature = 0.8, topP = 0.95, topK = 40, minP = 0 } = request;
  const seed = request.seed ?? randomInt(2 ** 32);
  demand(isBetween(temperature, 0, 10), 'temperature', 'must lie between 0 and 10');
  demand(topP > 0 && topP <= 1, 'topP', 'must be above 0 and at most 1');
  demand(isWhole(topK, 0), 'topK', 'must be a whole number of at least 0');
  demand(isBetween(minP, 0, 1), 'minP', 'must lie between 0 and 1');
  demand(Number.isSafeInteger(seed), 'seed', 'must be a whole number');
  return { temperature, topP, topK, minP, seed: seed >>> 0 };
}

function resolvePenalties(request: GenerateRequest): Penalties | undefined {
  const repeat = request.repeatPenalty ?? 1;
  const frequency = request.frequencyPenalty ?? 0;
  const presence = request.presencePenalty ?? 0;
  demand(repeat > 0 && repeat <= 10, 'repeatPenalty', 'must be above 0 and at most 10');
  demand(isBetween(frequency, -2, 2), 'frequencyPenalty', 'must lie between -2 and 2');
  demand(isBetween(presence, -2, 2), 'presencePenalty', 'must lie between -2 and 2');
  if (repeat === 1 && frequency === 0 && presence === 0) return undefined;
  return { repeat, frequency, presence };
}

function resolveTools(request: GenerateRequest): CallableTool[] {
  const { tools = [], toolChoice = 'auto', prompt } = request;
  demand(tools.length <= toolsMax, 'tools', `takes at most ${toolsMax} tools`);
  demand(tools.length === 0 || 'messages' in prompt, 'tools', 'needs messages');
  const areNamesSound = tools.every(({ name }) => /^[\w.-]{1,64}$/.test(name));
  demand(areNamesSound, 'tools', 'takes names of 1 to 64 letters, digits and any of "_.-"');
  const areUnique = new Set(tools.map(({ name }) => name)).size === tools.length;
  demand(areUnique, 'tools', 'names a tool twice');
  const mistyped = tools.findIndex(({ parameters }) => !mayBeObject(parameters?.['type']));
  demand(mistyped < 0, `tools.${mistyped}.function.parameters`, 'must be the schema of an object');
  if (toolChoice === 'none') return [];
  const isCalling = toolChoice === 'required' || typeof toolChoice === 'object';
  demand(!isCalling || tools.length > 0, 'toolChoice', 'needs tools');
  const wanted = typeof toolChoice === 'object' ? toolChoice.name : undefined;
  const allowed = tools.filter(({ name }) => wanted === undefined || name === wanted);
  demand(allowed.length > 0 || tools.length === 0, 'toolChoice', 'names no tool of the request');
  return allowed.map((tool, i) => ({
    ...tool,
    grammar: compileArguments(tool, { prefix: `t${i}-`, at: tools.indexOf(tool) }),
  }));
}

/**
 * The schemas of tools come from anywhere and only guide the model, unless they are strict: what a
 * grammar cannot hold of them is left to the tool to check.
 */
function compileArguments(
  tool: Tool,
  { prefix, at }: { readonly prefix: string; readonly at: number },
): SchemaGrammar {
  try {
    return compileSchema(argumentsOf(tool), prefix, tool.isStrict ? 'strict' : 'lenient');
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const { code, message, reason = '', detail } = error;
    const param = `tools.${at}.function.parameters`;
    throw new Fault(code, `${tool.name}: ${message}`, {
      cause: error,
      reason,
      detail: { ...detail, param },
    });
  }
}

function argumentsOf({ parameters }: Tool): JsonSchema {
  if (!parameters) return { type: 'object', additionalProperties: false };
  return { ...parameters, type: 'object' };
}

function mayBeObject(type: unknown = 'object'): boolean {
  return Array.isArray(type) ? type.includes('object') : type === 'object';
}

function resolveGrammar(
  { format }: GenerateRequest,
  tools: readonly CallableTool[],
): string | undefined {
  if (!format) return undefined;
  demand(tools.length === 0, 'format', 'cannot be combined with tools');
  const { schema } = format;
  if (schema === undefined) return toGrammarText(`${anyObjectGrammar.root} ws`, []);
  const grammar = compileSchema(schema, 's', 'strict');
  return toGrammarText(grammar.root, [grammar]);
}

function demand(holds: boolean, param: string, message: string): void {
  if (!holds) throw new Fault('invalid', `${param} ${message}`, { detail: { param } });
}

function isBetween(value: number, low: number, high: number): boolean {
  return value >= low && value <= high;
}

function isWhole(value: number, low: number): boolean {
  return Number.isInteger(value) && isBetween(value, low, wholeMax);
}
