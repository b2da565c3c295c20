import { Fault } from '../../kit/errors.ts';
import type { RunOptions } from '../tasks/task.ts';
import { fieldOf, hasField } from '../tasks/caller.ts';
import type { TaskAccess, TaskReader } from '../tasks/task-access.ts';
import { outcomeOf, type TaskRecord } from '../tasks/task-record.ts';
import type { MeshTaskRunner } from '../tasks/task-runner.ts';
import { writeTask, type ShownTask } from './a2a-task.ts';
import { invalid, RpcError } from './rpc-error.ts';
import { readMessage, type SentMessage } from './sent-message.ts';
import { methods, rpcErrors, type A2aVersion } from './wire.ts';

export interface A2aCall {
  /** The JSON-RPC request, unchecked. */
  readonly body: unknown;
  /** The header `A2A-Version`. */
  readonly version: string | undefined;
  readonly reader: TaskReader;
  readonly traceparent: string;
  readonly signal: AbortSignal;
}

export interface A2aServerOptions {
  readonly tasks: Pick<MeshTaskRunner, 'run' | 'start' | 'read'>;
  readonly access: TaskAccess;
}

/** Speaks A2A's JSON-RPC for all agents of the mesh; its answers are whole JSON-RPC responses. */
export class A2aServer {
  readonly #options: A2aServerOptions;

  constructor(options: A2aServerOptions) {
    this.#options = options;
  }

  /** Nothing for a notification. Rejects only with what is no matter of the protocol. */
  async handle(call: A2aCall): Promise<Record<string, unknown> | undefined> {
    const given = fieldOf(call.body, 'id');
    const id = typeof given === 'string' || typeof given === 'number' ? given : null;
    const answer = await this.#answer(call);
    return isNotification(call.body) ? undefined : { jsonrpc: '2.0', id, ...answer };
  }

  async #answer(call: A2aCall): Promise<Record<string, unknown>> {
    try {
      return { result: await this.#result(call) };
    } catch (error) {
      return { error: rpcErrorOf(error) };
    }
  }

  async #result(call: A2aCall): Promise<unknown> {
    const method = methodOf(call.body);
    if (method === undefined) {
      throw new RpcError(rpcErrors.invalidRequest, 'this is no JSON-RPC 2.0 request');
    }
    const major = call.version?.trim() ?? '';
    if (major !== '' && !/^(1|1\.\d+(\.\d+)?|0\.3(\.\d+)?)$/.test(major)) {
      throw new RpcError(rpcErrors.versionNotSupported, 'the mesh speaks A2A 1.0 and 0.3');
    }
    const params = fieldOf(call.body, 'params');
    for (const version of ['1.0', '0.3'] as const) {
      if (method === methods.send[version]) return this.#send(call, params, version);
      if (method === methods.get[version]) return this.#get(call, params, version);
      if (method === methods.cancel[version]) return this.#cancel(call, params, version);
    }
    throw notOffered(method);
  }

  async #send(call: A2aCall, params: unknown, version: A2aVersion): Promise<unknown> {
    const message = readMessage(params);
    const shown = await this.#run(call, message, isImmediate(params, version));
    const task = writeTask(shown, version);
    return version === '1.0' ? { task } : task;
  }

  async #run(call: A2aCall, message: SentMessage, isDetached: boolean): Promise<ShownTask> {
    const { target, task, contextId, key } = message;
    const { reader, traceparent } = call;
    const options: RunOptions = { askedBy: reader.subject, traceparent, idempotencyKey: key };
    const { tasks } = this.#options;
    if (isDetached) {
      const { taskId } = await tasks.start(target, task, options);
      return this.#shown(taskId, contextId);
    }
    // What may be sent again goes on when its sender has gone.
    const signal = key === undefined ? call.signal : undefined;
    try {
      const { taskId, result } = await tasks.run(target, task, { ...options, signal });
      // The record may lack a result that was too large to keep.
      return { ...(await this.#shown(taskId, contextId)), result };
    } catch (error) {
      return this.#shown(taskIdOf(error), contextId);
    }
  }

  async #shown(taskId: string, contextId: string | undefined): Promise<ShownTask> {
    const record = await this.#options.tasks.read(taskId);
    if (!record) throw new Fault('internal', 'a task has no record');
    return { ...shownOf(record), contextId: contextId ?? taskId };
  }

  async #get(call: A2aCall, params: unknown, version: A2aVersion): Promise<unknown> {
    const record = await this.#options.access.read(idOf(params), { ...call.reader, waitMs: 0 });
    return writeTask(shownOf(record), version);
  }

  async #cancel(call: A2aCall, params: unknown, version: A2aVersion): Promise<unknown> {
    const record = await this.#options.access.cancel(idOf(params), call.reader);
    return writeTask(shownOf(record), version);
  }
}

/** Undefined for what is no JSON-RPC 2.0 request. */
function methodOf(body: unknown): string | undefined {
  const method = fieldOf(body, 'method');
  return fieldOf(body, 'jsonrpc') === '2.0' && typeof method === 'string' ? method : undefined;
}

/** A request without an id is done and never answered (JSON-RPC 2.0, section 4.1). */
function isNotification(body: unknown): boolean {
  return methodOf(body) !== undefined && !hasField(body, 'id');
}

/** What A2A has, and this server says in its card that it has not. */
const unsupported = new Set([
  'SendStreamingMessage',
  'SubscribeToTask',
  'ListTasks',
  'GetExtendedAgentCard',
  'message/stream',
  'tasks/resubscribe',
  'agent/getAuthenticatedExtendedCard',
]);

/** Of push notifications, 1.0 and 0.3. */
const pushMethod = /PushNotificationConfigs?$|^tasks\/pushNotificationConfig\//;

function notOffered(method: string): RpcError {
  if (pushMethod.test(method)) {
    return new RpcError(rpcErrors.pushNotSupported, 'the mesh sends no push notifications');
  }
  if (unsupported.has(method)) {
    return new RpcError(rpcErrors.unsupportedOperation, `the mesh does not offer ${method}`);
  }
  return new RpcError(rpcErrors.methodNotFound, 'there is no such method');
}

function rpcErrorOf(error: unknown): Record<string, unknown> {
  if (error instanceof RpcError) return { code: error.code, message: error.message };
  if (!(error instanceof Fault) || error.code === 'internal') throw error;
  const { message, code, reason = code, detail } = error;
  const data = [
    { '@type': errorInfo, reason: reason.toUpperCase(), domain: 'mesh', metadata: textsOf(detail) },
  ];
  return { code: rpcCodes[reason] ?? rpcErrors.invalidParams, message, data };
}

const errorInfo = 'type.googleapis.com/google.rpc.ErrorInfo';

const rpcCodes: Readonly<Record<string, number>> = {
  task_not_found: rpcErrors.taskNotFound,
  task_finished: rpcErrors.taskNotCancelable,
  not_task_owner: rpcErrors.taskNotCancelable,
  unavailable: rpcErrors.internal,
};

function textsOf(detail: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(detail).map(([name, value]) => [name, String(value)]));
}

function isImmediate(params: unknown, version: A2aVersion): boolean {
  const configuration = fieldOf(params, 'configuration');
  if (version === '1.0') return fieldOf(configuration, 'returnImmediately') === true;
  return fieldOf(configuration, 'blocking') === false;
}

function idOf(params: unknown): string {
  const id = fieldOf(params, 'id');
  if (typeof id === 'string' && id !== '' && !id.includes('\0')) return id;
  throw invalid('the id of a task is missing');
}

/** Of a task that came to nothing, which A2A says in its state; what never was one is an error. */
function taskIdOf(error: unknown): string {
  const { code, detail } = Fault.from(error);
  const { taskId } = detail;
  if (code === 'not_found' || code === 'internal' || typeof taskId !== 'string') throw error;
  return taskId;
}

function shownOf(record: TaskRecord): ShownTask {
  const { taskId, status, agentId, failure, createdAtMs, finishedAtMs } = record;
  const isCompleted = status === 'completed';
  const result = isCompleted ? outcomeOf(record).result : undefined;
  const statusAtMs = finishedAtMs ?? createdAtMs;
  return { taskId, contextId: taskId, status, statusAtMs, agentId, failure, result };
}
