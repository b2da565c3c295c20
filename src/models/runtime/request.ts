import { randomInt } from 'node:crypto';
import { Fault } from '../../kit/errors.ts';

export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** Messages go through the model's chat template; text is continued as it stands. */
export type Prompt = { readonly messages: readonly ChatMessage[] } | { readonly text: string };

export interface GenerateRequest {
  /** Absolute path of a GGUF file. Whether the caller may use it is the caller's concern. */
  readonly modelPath: string;
  readonly prompt: Prompt;
  /** Default and upper bound: what the prompt leaves of the context. */
  readonly maxTokens?: number;
  /** 0 is greedy. Default 0.8. */
  readonly temperature?: number;
  /** Default 0.95. */
  readonly topP?: number;
  /** 0 looks at the whole vocabulary. Default 40. */
  readonly topK?: number;
  /**
   * Taken modulo 2^32; random when absent. Without effect at temperature 0. The same seed gives the
   * same text while the request runs alone: neighbours in the batch change the rounding.
   */
  readonly seed?: number;
  /** The text ends before the first of these, wherever the tokens split it. */
  readonly stop?: readonly string[];
  /** From the call to the last token, waiting and loading included. Default ten minutes. */
  readonly deadlineMs?: number;
}

export interface Usage {
  /** Tokens evaluated for the prompt, template and begin mark included. */
  readonly promptTokens: number;
  /** Tokens sampled, without the end mark; those of a stop text count. */
  readonly completionTokens: number;
}

export interface Timings {
  /** How long this request waited for the model to load; next to nothing when it was loaded. */
  readonly loadMs: number;
  /** From the start of the evaluation to the first token. */
  readonly promptMs: number;
  readonly generateMs: number;
}

export interface GenerateEnd {
  readonly type: 'end';
  /** `stop`: the model's end mark or a stop text. `length`: `maxTokens` or the context ran out. */
  readonly finishReason: 'stop' | 'length';
  readonly usage: Usage;
  readonly timings: Timings;
}

/** Any number of texts, each of whole characters, then one end. */
export type GenerateEvent = { readonly type: 'text'; readonly text: string } | GenerateEnd;

export interface Sampling {
  readonly temperature: number;
  readonly topP: number;
  readonly topK: number;
  readonly seed: number;
}

/** A request with every default filled in, as the child process takes it. */
export interface Work {
  readonly prompt: Prompt;
  readonly maxTokens: number;
  readonly sampling: Sampling;
  readonly stop: readonly string[];
}

/** How long a request may take when it does not say. */
export const deadlineDefaultMs = 600_000;

const stopsMax = 16;
const stopLengthMax = 256;
const wholeMax = 2 ** 31 - 1;

/** Fills in the defaults; Fault `invalid` names the first option that is out of range. */
export function resolveRequest(request: GenerateRequest): Work {
  const { temperature = 0.8, topP = 0.95, topK = 40, stop = [], prompt } = request;
  const { maxTokens = wholeMax, deadlineMs = deadlineDefaultMs } = request;
  const seed = request.seed ?? randomInt(2 ** 32);
  require(isBetween(temperature, 0, 10), 'temperature must lie between 0 and 10');
  require(topP > 0 && topP <= 1, 'topP must be above 0 and at most 1');
  require(isWhole(topK, 0), 'topK must be a whole number of at least 0');
  require(Number.isSafeInteger(seed), 'seed must be a whole number');
  require(isWhole(maxTokens, 1), 'maxTokens must be a whole number of at least 1');
  require(isWhole(deadlineMs, 1), 'deadlineMs must be a whole number of at least 1');
  require(stop.length <= stopsMax, `at most ${stopsMax} stop texts are allowed`);
  const areStopsSound = stop.every((text) => isBetween(text.length, 1, stopLengthMax));
  require(areStopsSound, `a stop text must have 1 to ${stopLengthMax} characters`);
  require(!('messages' in prompt) || prompt.messages.length > 0, 'messages must not be empty');
  return { prompt, maxTokens, sampling: { temperature, topP, topK, seed: seed >>> 0 }, stop };
}

function require(holds: boolean, message: string): void {
  if (!holds) throw new Fault('invalid', message);
}

function isBetween(value: number, low: number, high: number): boolean {
  return value >= low && value <= high;
}

function isWhole(value: number, low: number): boolean {
  return Number.isInteger(value) && isBetween(value, low, wholeMax);
}
