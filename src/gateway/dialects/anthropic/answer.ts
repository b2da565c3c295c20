import type { Answer, Finish, Usage } from '../../conversation/answer.ts';
import { estimateUsage } from '../../conversation/collect.ts';
import type { AssistantPart } from '../../conversation/request.ts';
import { writeExact } from '../exact-json.ts';
import { countIn, isRecord, listIn, recordIn, textIn } from '../untrusted.ts';
import type { Json } from '../json.ts';
import { UpstreamError } from '../upstream-error.ts';
import { readStreamFailure } from './failure.ts';

/** A whole message. */
export function readAnswer(body: unknown): Answer {
  const message = expectMessage(body);
  const parts = listIn(message.content).flatMap((block) => readBlock(recordIn(block)));
  const stopSequence = textIn(message.stop_sequence);
  const finish = readFinish(message.stop_reason);
  const choices = [{ index: 0, parts, finish, ...(stopSequence ? { stopSequence } : {}) }];
  return {
    id: textIn(message.id) ?? '',
    model: textIn(message.model) ?? '',
    createdAt: Math.floor(Date.now() / 1000),
    choices,
    usage: isRecord(message.usage) ? readUsage(message.usage) : estimateUsage(choices),
  };
}

/** What a whole message took. */
export function readBodyUsage(body: unknown): Usage {
  const message = expectMessage(body);
  if (textIn(message.stop_reason) === undefined) throw cutOff();
  return isRecord(message.usage) ? readUsage(message.usage) : readAnswer(message).usage;
}

/** Anthropic's counts of input leave out what its cache read and wrote; ours do not. */
export function readUsage(usage: Json): Usage {
  const written = countIn(usage.cache_creation_input_tokens);
  const read = countIn(usage.cache_read_input_tokens);
  const long = countIn(recordIn(usage.cache_creation).ephemeral_1h_input_tokens);
  const thought = countIn(recordIn(usage.output_tokens_details).thinking_tokens);
  return {
    inputTokens: countIn(usage.input_tokens) + written + read,
    outputTokens: countIn(usage.output_tokens),
    ...(read > 0 ? { cachedInputTokens: read } : {}),
    ...(written > 0 ? { cacheWriteTokens: written } : {}),
    ...(long > 0 ? { longCacheWriteTokens: long } : {}),
    ...(thought > 0 ? { reasoningTokens: thought } : {}),
  };
}

/** `pause_turn` is an answer that wants to go on, so it must not look complete. */
const finishes: ReadonlyMap<unknown, Finish> = new Map([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['pause_turn', 'length'],
  ['tool_use', 'tool-calls'],
  ['refusal', 'content-filter'],
]);

/**
 * Throws `UpstreamError` for an answer that says no reason. One that is newer than this list ended an answer that
 * is whole as far as it goes, and must not look complete: so far most new ones told of an answer that was not.
 */
export function readFinish(reason: unknown): Finish {
  if (textIn(reason) === undefined) throw cutOff();
  return finishes.get(reason) ?? 'length';
}

/** An answer, or a stream, that ended without saying why. */
export function cutOff(): UpstreamError {
  return UpstreamError.of('truncated', 'the answer says no reason why it ended');
}

function expectMessage(body: unknown): Json {
  if (isRecord(body)) {
    if (body.type === 'error') throw new UpstreamError(readStreamFailure(body));
    if (Array.isArray(body.content)) return body;
  }
  throw UpstreamError.of('broken', 'the provider answered with something that is no message');
}

function readBlock(block: Json): AssistantPart[] {
  const text = textIn(block.text);
  if (block.type === 'text') return text === undefined ? [] : [{ type: 'text', text }];
  if (block.type === 'tool_use') return [readCall(block)];
  if (block.type === 'redacted_thinking')
    return [{ type: 'reasoning', text: '', redacted: textIn(block.data) ?? '' }];
  if (block.type !== 'thinking') return [];
  const signature = textIn(block.signature);
  const thought = textIn(block.thinking) ?? '';
  return [{ type: 'reasoning', text: thought, ...(signature ? { signature } : {}) }];
}

function readCall({ id, name, input }: Json): AssistantPart {
  if (typeof id !== 'string' || typeof name !== 'string')
    throw UpstreamError.of('broken', 'a tool call in the answer has no id or no name');
  return { type: 'tool-call', id, name, arguments: writeExact(input ?? {}) };
}
