import { createHash } from 'node:crypto';
import { hasFiniteNumbers } from '../../kit/finite-numbers.ts';
import { isJsonObject } from '../../kit/json-object.ts';
import { fieldOf } from '../tasks/caller.ts';
import { priorities, type Priority, type Task, type TaskTarget } from '../tasks/task.ts';
import { invalid, RpcError } from './rpc-error.ts';
import { readParts, rpcErrors } from './wire.ts';

const timeoutMsDefault = 60_000;
const timeoutMsMax = 60 * 60_000;
const agentIdPattern = /^[A-Za-z0-9._:-]{1,128}$/;

/** A message as a task of the mesh. */
export interface SentMessage {
  readonly target: TaskTarget;
  readonly task: Omit<Task, 'taskId'>;
  readonly contextId: string | undefined;
  /** The same for the same message; none where that cannot be told. */
  readonly key: string | undefined;
}

/** Throws `RpcError` for what no task can be made of. */
export function readMessage(params: unknown): SentMessage {
  const message = fieldOf(params, 'message');
  const parts = readParts(fieldOf(message, 'parts'));
  if (parts.length === 0) throw invalid('the message has no part that is text or data');
  const { taskId, contextId } = {
    taskId: fieldOf(message, 'taskId'),
    contextId: fieldOf(message, 'contextId'),
  };
  if (typeof taskId === 'string' && taskId !== '') {
    throw new RpcError(rpcErrors.unsupportedOperation, 'a task of the mesh takes one message');
  }
  const wish =
    fieldOf(fieldOf(params, 'metadata'), 'mesh') ?? fieldOf(fieldOf(message, 'metadata'), 'mesh');
  const target = readTarget(wish);
  const capability = 'capability' in target ? target.capability : 'message';
  const input = inputOf(parts);
  if (!hasFiniteNumbers(input)) throw invalid('a number in the message is too large');
  const task = {
    type: textField(wish, 'type') ?? capability,
    input,
    timeoutMs: timeoutOf(wish),
    priority: priorityOf(wish),
  };
  return {
    target,
    task,
    contextId: typeof contextId === 'string' && contextId !== '' ? contextId : undefined,
    key: keyOf(fieldOf(message, 'messageId'), [target, task, contextId]),
  };
}

/**
 * Two messages are one when their `messageId` and all that they ask for are: whoever numbers different
 * messages alike means two.
 */
function keyOf(messageId: unknown, asked: unknown): string | undefined {
  if (typeof messageId !== 'string' || messageId === '') return undefined;
  const text = JSON.stringify([messageId, asked]);
  return `a2a:${createHash('sha256').update(text).digest('base64url')}`;
}

function readTarget(wish: unknown): TaskTarget {
  const agentId = fieldOf(wish, 'agentId');
  if (agentId === undefined) return { capability: textField(wish, 'capability') ?? 'chat' };
  if (typeof agentId === 'string' && agentIdPattern.test(agentId)) return { agentId };
  throw invalid('metadata.mesh.agentId is no agent id');
}

function textField(wish: unknown, name: string): string | undefined {
  const text = fieldOf(wish, name);
  if (text === undefined) return undefined;
  if (typeof text === 'string' && /^[^\p{Cc}\p{Cs}]{1,128}$/u.test(text)) return text;
  throw invalid(`metadata.mesh.${name} is no text of 1 to 128 characters`);
}

function timeoutOf(wish: unknown): number {
  const timeout = fieldOf(wish, 'timeout');
  if (timeout === undefined) return timeoutMsDefault;
  if (Number.isInteger(timeout) && Number(timeout) > 0)
    return Math.min(Number(timeout), timeoutMsMax);
  throw invalid('metadata.mesh.timeout is no number of milliseconds');
}

function priorityOf(wish: unknown): Priority {
  const given = fieldOf(wish, 'priority') ?? 'normal';
  const priority = priorities.find((known) => known === given);
  if (priority) return priority;
  throw invalid(`metadata.mesh.priority is none of ${priorities.join(', ')}`);
}

/** Texts become the prompt; members of objects become the input's. */
function inputOf(parts: ReturnType<typeof readParts>): Readonly<Record<string, unknown>> {
  const texts = parts.flatMap((part) => ('text' in part ? [part.text] : []));
  const input: Record<string, unknown> = {};
  for (const part of parts) {
    if (!('data' in part)) continue;
    const { data } = part;
    Object.assign(input, isJsonObject(data) ? data : { data });
  }
  return texts.length === 0 ? input : { ...input, prompt: texts.join('\n') };
}
