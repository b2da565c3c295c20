import type { Answer, Choice, Usage } from '../../conversation/answer.ts';
import type { AssistantPart, ReasoningPart } from '../../conversation/request.ts';
import { parseExact } from '../../dialects/exact-json.ts';
import { markSignature } from '../../dialects/signatures.ts';
import { isRecord } from '../../dialects/untrusted.ts';
import { UpstreamError } from '../../dialects/upstream-error.ts';
import type { Fields } from './fields.ts';

/** A whole message. */
export function writeAnswer({ id, model, choices, usage }: Answer): Fields {
  const choice = choices[0];
  if (!choice) throw UpstreamError.of('broken', 'the provider answered without an answer');
  return {
    ...writeHead(id, model),
    content: writeParts(choice),
    ...writeStop(
      choice,
      choice.parts.some(({ type }) => type === 'refusal'),
    ),
    usage: writeUsage(usage),
  };
}

/** What stands in front of a message's content. */
export function writeHead(id: string, model: string): Fields {
  return { id, type: 'message', role: 'assistant', model };
}

/** Why a message ended; a model that refused in words of its own ended by `stop` elsewhere. */
export function writeStop(
  { finish, stopSequence }: Pick<Choice, 'finish' | 'stopSequence'>,
  hasRefused = false,
): Fields {
  const reason = finish === 'stop' ? stopReason(stopSequence, hasRefused) : reasons[finish];
  return { stop_reason: reason, stop_sequence: stopSequence ?? null };
}

function stopReason(stopSequence: string | undefined, hasRefused: boolean): string {
  if (hasRefused) return 'refusal';
  return stopSequence === undefined ? reasons.stop : 'stop_sequence';
}

const reasons = {
  stop: 'end_turn',
  length: 'max_tokens',
  'tool-calls': 'tool_use',
  'content-filter': 'refusal',
} as const;

/** Anthropic's `input_tokens` leave out what a cache read or wrote. */
export function writeUsage(usage: Usage): Fields {
  const read = usage.cachedInputTokens ?? 0;
  const written = usage.cacheWriteTokens ?? 0;
  const long = usage.longCacheWriteTokens;
  const thought = usage.reasoningTokens;
  return {
    input_tokens: Math.max(0, usage.inputTokens - read - written),
    cache_creation_input_tokens: written,
    cache_read_input_tokens: read,
    ...(long === undefined ? {} : { cache_creation: writeLifetimes(written, long) }),
    output_tokens: usage.outputTokens,
    ...(thought === undefined ? {} : { output_tokens_details: { thinking_tokens: thought } }),
  };
}

function writeLifetimes(written: number, long: number): Fields {
  return { ephemeral_5m_input_tokens: written - long, ephemeral_1h_input_tokens: long };
}

/** How a call's signature travels, for which `tool_use` has no field: as a thought in front of it. */
export function signCall(signature: string): ReasoningPart {
  return { type: 'reasoning', text: '', signature: markSignature('call', signature) };
}

/** A call that the limit cut off says nothing that could be called: `max_tokens` tells of it. */
function writeParts({ parts, finish }: Choice): Fields[] {
  const last = parts.at(-1);
  const isCut = finish === 'length' && last?.type === 'tool-call' && !isObjectText(last.arguments);
  return (isCut ? parts.slice(0, -1) : parts).flatMap(writePart);
}

function writePart(part: AssistantPart): Fields[] {
  if (part.type === 'reasoning') {
    const { text, redacted, signature = '' } = part;
    if (redacted !== undefined) return [{ type: 'redacted_thinking', data: redacted }];
    return [{ type: 'thinking', thinking: text, signature }];
  }
  if (part.type !== 'tool-call') return part.text === '' ? [] : [{ type: 'text', text: part.text }];
  const { id, name, signature } = part;
  const call = { type: 'tool_use', id, name, input: readInput(part.arguments) };
  return signature === undefined ? [call] : [...writePart(signCall(signature)), call];
}

/**
 * The arguments of a call as the object that Anthropic's blocks hold, whose numbers keep their texts.
 * Throws `UpstreamError` (`broken`) where they are none.
 */
export function readInput(text: string): unknown {
  if (text.trim() === '') return {};
  try {
    const input = parseExact(text);
    if (isRecord(input)) return input;
  } catch {
    // Told below, as for JSON that is no object.
  }
  throw UpstreamError.of('broken', 'the arguments of a tool call are not a JSON object');
}

/** Whether the arguments of a call are whole. */
export function isObjectText(text: string): boolean {
  try {
    readInput(text);
    return true;
  } catch {
    return false;
  }
}
