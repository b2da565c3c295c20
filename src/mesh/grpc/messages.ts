import { Fault } from '../../kit/errors.ts';
import { inspectJson } from '../../kit/json-scan.ts';
import type { Message, OperationName } from './mesh-operations.ts';
import {
  fromStruct,
  fromValue,
  toStruct,
  toValue,
  type ProtoStruct,
  type ProtoValue,
} from './struct.ts';

/**
 * A request off the wire with plain JSON in its free-form fields. Throws `invalid` (`invalid_json`) for keys
 * that the body of a request over REST may not have either.
 */
export function fromRequest(operation: OperationName, message: Message): Message {
  if (operation === 'register') {
    return withField(message, 'metadata', (metadata) => givenObject(metadata as ProtoStruct));
  }
  if (operation === 'execute' || operation === 'createSwarm') {
    return withField(message, 'task', (task) =>
      // The loader made both by the .proto file.
      withField(task as Message, 'input', (input) => givenObject(input as ProtoStruct)),
    );
  }
  return message;
}

/** An answer for the wire. */
export function toResponse(operation: OperationName, answer: object): object {
  if (operation !== 'execute') return answer;
  // Null is a result like others.
  const { result } = answer as Message;
  return result === undefined ? answer : { ...answer, result: toValue(result) };
}

/** A task as an agent is asked to do it. */
export function toTaskRequest(
  agentId: string,
  { taskId, type, input, timeoutMs, priority }: AskedTask,
): object {
  const task = { type, input: toStruct(input), timeout: timeoutMs, priority };
  return { targetAgent: agentId, taskId, task, idempotencyKey: taskId };
}

/** What an agent answered; fields that it left out are absent. */
export interface TaskResponse {
  readonly status?: string;
  readonly result?: unknown;
}

/**
 * An answer off the wire with plain JSON as its result. Throws `upstream` (`invalid_answer`) for keys that the
 * answer of an agent over REST may not have either.
 */
export function fromTaskResponse({ status, result }: TaskResponse): TaskResponse {
  const given = isMessage(result) ? { result: fromValue(result as ProtoValue) } : {};
  if (inspectJson(given).isForged) {
    const options = { reason: 'invalid_answer' };
    throw new Fault('upstream', 'the answer holds a forbidden key', options);
  }
  return { ...(status && { status }), ...given };
}

/** What of a task goes to the agent. */
export interface AskedTask {
  readonly taskId: string;
  readonly type: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly timeoutMs: number;
  readonly priority: string;
}

function givenObject(struct: ProtoStruct): object {
  const object = fromStruct(struct);
  if (!inspectJson(object).isForged) return object;
  throw new Fault('invalid', 'the request holds a forbidden key', { reason: 'invalid_json' });
}

function withField(message: Message, name: string, change: (value: unknown) => unknown): Message {
  const value = message[name];
  return value === undefined || value === null ? message : { ...message, [name]: change(value) };
}

function isMessage(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}
