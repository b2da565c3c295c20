import { Type } from 'typebox';
import type { Client } from '../../../kit/client.ts';
import { Fault } from '../../../kit/errors.ts';
import type { meshContract } from '../../../mesh/contract.ts';
import { fieldsOf } from '../answer-fields.ts';
import { callOptions } from '../call-options.ts';
import type { Component, NodeContext, Usage } from '../component.ts';
import { refusedBy } from '../refused-service.ts';
import { defineComponent } from '../schema.ts';
import { AnyKey } from '../../../kit/any-key.ts';

/** What has agents do tasks. */
export type TaskClient = Pick<Client<typeof meshContract>, 'executeTask'>;

const name = Type.String({ minLength: 1, maxLength: 128 });
const timeoutMsMax = 60 * 60_000;
/** The same each time: the mesh takes a key for one and the same request only. */
const timeoutMsDefault = 115_000;

const settings = Type.Object(
  {
    agent: Type.Optional(Type.Union([name], { description: 'the id of an agent' })),
    capability: Type.Optional(
      Type.Union([name], { description: 'what the agent must be able to do' }),
    ),
    type: Type.Optional(
      Type.Union([name], { description: 'of the task; the capability when absent' }),
    ),
    input: Type.Optional(Type.Record(AnyKey, Type.Unknown())),
    timeout: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: timeoutMsMax,
        default: timeoutMsDefault,
        description: 'milliseconds',
      }),
    ),
    priority: Type.Optional(Type.Enum(['low', 'normal', 'high', 'critical'])),
  },
  { examples: [{ capability: 'summarization', input: { prompt: '{{ page.body }}' } }] },
);

/** Has an agent of the mesh do a task. */
export function createAgentTask(mesh: TaskClient): Component {
  return defineComponent({
    name: 'AgentTask',
    group: 'tools',
    title: 'Agent task',
    description:
      'Has an agent of the mesh do a task: the one that is named, or any that has the capability (the `type` when none is named). A task is not done again after a crash; a further attempt after a failure is a new task.',
    input: settings,
    output: Type.Object({
      result: Type.Unknown(),
      executedBy: Type.String({ description: 'the id of the agent' }),
      taskId: Type.String(),
    }),
    effect: 'once',
    permission: ['mesh:communicate', 'agent:execute'],
    typicalMs: 5_000,
    timeoutMs: 120_000,
    run: async (
      { agent, capability, type = capability, timeout = timeoutMsDefault, ...rest },
      context,
    ) => {
      if (type === undefined) throw typeNeeded();
      const { input, priority } = rest;
      const options = callOptions(context);
      const task = {
        type,
        timeout,
        ...(capability !== undefined && { capability }),
        ...(input && { input }),
        ...(priority && { priority }),
      };
      const body = { task, ...(agent !== undefined && { targetAgent: agent }) };
      const headers = { 'idempotency-key': keyOf(context) };
      // The mesh ends the task itself; the rest is for its answer.
      const timeoutMs = options.timeoutMs + 2_000;
      const answer = await mesh
        .executeTask({ body }, { ...options, timeoutMs, headers })
        .catch(refusedBy('mesh'));
      if (!('result' in answer)) throw unfinished(answer.taskId);
      const { result, executedBy, taskId } = answer;
      const usage = usageOf(result);
      const output = { result, executedBy, taskId };
      return { kind: 'done', output, ...(usage && { usage }) };
    },
  });
}

/**
 * The mesh answers one key with one outcome, failures too: a further attempt is another task. After a
 * crash the attempts are counted anew, and find the outcomes of those before.
 */
function keyOf({ idempotencyKey, attempt }: NodeContext): string {
  return attempt === 1 ? idempotencyKey : `${idempotencyKey}:${attempt}`;
}

/** What an agent says that it used, in the words of the gateway or in ours; undefined when nothing. */
function usageOf(result: unknown): Usage | undefined {
  const { usage, model } = fieldsOf(result);
  const said = fieldsOf(usage);
  const promptTokens = countOf(said['prompt_tokens'] ?? said['promptTokens']);
  const completionTokens = countOf(said['completion_tokens'] ?? said['completionTokens']);
  const cost = countOf(said['cost']);
  if (promptTokens + completionTokens + cost === 0) return undefined;
  const known = typeof model === 'string' ? { model } : {};
  return { ...known, promptTokens, completionTokens, cost };
}

function countOf(value: unknown): number {
  return typeof value === 'number' && value > 0 && Number.isFinite(value) ? value : 0;
}

function typeNeeded(): Fault {
  return new Fault('invalid', 'one of type and capability is needed', {
    reason: 'bad_setting',
  });
}

function unfinished(taskId: string): Fault {
  return new Fault('upstream', `the mesh did not wait for the task ${taskId}`, {
    reason: 'task_unfinished',
  });
}
