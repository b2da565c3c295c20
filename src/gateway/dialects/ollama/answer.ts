import type { Answer, Finish, Usage } from '../../conversation/answer.ts';
import { estimateUsage } from '../../conversation/collect.ts';
import type { AssistantPart } from '../../conversation/request.ts';
import { newId } from '../../../kit/ids.ts';
import { writeExact } from '../exact-json.ts';
import { countIn, isRecord, listIn, recordIn, textIn } from '../untrusted.ts';
import type { Json } from '../json.ts';
import { UpstreamError } from '../upstream-error.ts';
import { readFailure } from './failure.ts';

/** A whole answer. */
export function readAnswer(body: unknown): Answer {
  const response = expectDone(body);
  const parts = readMessage(response);
  const hasCalls = parts.some(({ type }) => type === 'tool-call');
  const choices = [{ index: 0, parts, finish: readFinish(response, hasCalls) }];
  const usage = isCounted(response) ? readUsage(response) : estimateUsage(choices);
  return { ...readHead(response), choices, usage };
}

/** What a whole answer took. */
export function readBodyUsage(body: unknown): Usage {
  const response = expectDone(body);
  return isCounted(response)
    ? readUsage(response)
    : estimateUsage([{ parts: readMessage(response) }]);
}

/** Whether the last line of an answer says what it took. */
export function isCounted(response: Json): boolean {
  return typeof response.eval_count === 'number';
}

function expectDone(body: unknown): Json {
  const response = expectResponse(body);
  if (response.done === true) return response;
  throw UpstreamError.of('truncated', 'the answer does not say that it is done');
}

/** A response, or a line of one; throws `UpstreamError` for an error. */
export function expectResponse(body: unknown): Json {
  if (isRecord(body) && typeof body.error === 'string')
    throw new UpstreamError(readFailure({ status: 500, headers: {}, body }));
  if (isRecord(body) && isRecord(body.message)) return body;
  throw UpstreamError.of('broken', 'the provider answered with something that is no message');
}

/** What names an answer; Ollama gives it no id. */
export function readHead(response: Json): Pick<Answer, 'id' | 'model' | 'createdAt'> {
  const created = Date.parse(textIn(response.created_at) ?? '');
  return {
    id: newId('chat'),
    model: textIn(response.model) ?? '',
    createdAt: Math.floor((Number.isNaN(created) ? Date.now() : created) / 1000),
  };
}

/** Ollama leaves out the count of a prompt that it remembered wholly. */
export function readUsage(response: Json): Usage {
  const hasPrompt = typeof response.prompt_eval_count === 'number';
  return {
    inputTokens: countIn(response.prompt_eval_count),
    outputTokens: countIn(response.eval_count),
    ...(hasPrompt ? {} : { isEstimated: true }),
  };
}

/** What a message, or a piece of one, says: thoughts, then text, then calls. */
export function readMessage(response: Json): AssistantPart[] {
  const message = recordIn(response.message);
  const thought = textIn(message.thinking);
  const text = textIn(message.content);
  if (listIn(message.images).length > 0)
    throw UpstreamError.of('untranslatable', 'the answer holds images, which cannot be passed on');
  const parts: AssistantPart[] = [];
  if (thought !== undefined) parts.push({ type: 'reasoning', text: thought });
  if (text !== undefined) parts.push({ type: 'text', text });
  for (const call of listIn(message.tool_calls)) parts.push(readCall(recordIn(call)));
  return parts;
}

function readCall(call: Json): AssistantPart {
  const { name, arguments: input } = recordIn(call.function);
  if (typeof name !== 'string') throw UpstreamError.of('broken', 'a tool call has no name');
  const text = typeof input === 'string' ? input : writeExact(input ?? {});
  return { type: 'tool-call', id: textIn(call.id) ?? newId('call'), name, arguments: text };
}

/** Throws `UpstreamError` (`broken`) for an answer that was not the model's, such as `load`. */
export function readFinish({ done_reason: reason }: Json, hasCalls: boolean): Finish {
  if (reason === 'length') return 'length';
  // Old versions say no reason.
  if (reason === 'stop' || reason === undefined || reason === '')
    return hasCalls ? 'tool-calls' : 'stop';
  const name = textIn(reason) ?? 'none';
  throw UpstreamError.of('broken', `the answer ended for an unknown reason, ${name}`);
}
