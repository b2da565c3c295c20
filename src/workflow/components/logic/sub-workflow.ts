import { Type } from 'typebox';
import { Fault } from '../../../kit/errors.ts';
import { formatTraceparent } from '../../../kit/trace/trace-context.ts';
import { allInputs } from '../../engine/walk/given-inputs.ts';
import type { Engine } from '../../engine/execution.ts';
import type { WorkflowEngine } from '../../engine/engine.ts';
import type { Component, NodeContext, Rest } from '../component.ts';
import { defineComponent, type Marker } from '../schema.ts';
import { AnyKey } from '../../../kit/any-key.ts';

/** What starts executions. */
export type ChildStarter = Pick<Engine, 'start' | 'find'> &
  Pick<WorkflowEngine, 'list' | 'cancelAbandoned' | 'goOn'>;

export interface SubWorkflowDependencies {
  /** Asked when the first child is started: the engine needs the components before it can exist. */
  readonly starter: () => ChildStarter;
  /** Throws unless the flow of another workflow may run this version. */
  readonly requireNameable: (
    named: { readonly workflowId: string; readonly version: number },
    byWorkflowId: string,
  ) => Promise<void>;
}

/** Executions within executions: a workflow that starts itself ends here. */
const depthMax = 8;

const input = Type.Object(
  {
    workflowId: Type.String({
      minLength: 1,
      maxLength: 128,
      'x-ennead': 'author' satisfies Marker,
    }),
    version: Type.Optional(
      Type.Integer({
        minimum: 1,
        'x-ennead': 'author' satisfies Marker,
        description:
          'the published one when absent; a draft only where its owner is that of this workflow',
      }),
    ),
    inputs: Type.Optional(
      Type.Record(AnyKey, Type.Unknown(), {
        description:
          'by node id of that workflow, or by any name, which is read there as `inputs.<name>`; what comes out of a placeholder here is never rendered again there',
      }),
    ),
    wait: Type.Optional(
      Type.Boolean({ default: true, description: 'false goes on as soon as it is started' }),
    ),
    timeout: Type.Optional(
      Type.Integer({
        minimum: 1_000,
        maximum: 366 * 24 * 3_600 * 1_000,
        description: 'milliseconds that the other execution may take',
      }),
    ),
  },
  { examples: [{ workflowId: 'wfl_translate', inputs: { text: { value: '{{ draft.text }}' } } }] },
);

/** Runs another workflow. */
export function createSubWorkflow({
  starter,
  requireNameable,
}: SubWorkflowDependencies): Component {
  return defineComponent({
    name: 'SubWorkflow',
    group: 'logic',
    title: 'Sub-workflow',
    description:
      'Runs another workflow with the same owner and gives its result: the outputs of its ends, as `{{ sub.result.<node id> }}`. What it uses counts in the budget of this one, whose rest is all that it has; so does its time where this one waits for it. It takes no memory while it waits. Up to eight may lie within one another.',
    input,
    output: Type.Object({
      executionId: Type.String(),
      status: Type.Optional(
        Type.String({ description: '`completed`; absent where it does not wait' }),
      ),
      result: Type.Optional(
        Type.Record(AnyKey, Type.Unknown(), {
          description: 'the outputs of its ends by node id; absent where it does not wait',
        }),
      ),
    }),
    effect: 'once',
    parks: true,
    callerToken: 'handed-on',
    typicalMs: 5_000,
    run: async ({ workflowId, version, inputs = {}, wait = true, timeout }, context) => {
      const engine = starter();
      const bounds = boundsOf(context, wait, timeout);
      const start = async () => {
        if (version !== undefined) {
          await requireNameable({ workflowId, version }, context.workflowId);
        }
        const callerToken = await context.callerToken();
        return engine.start({
          workflowId,
          inputs,
          inputUses: allInputs(inputs, 'as-is'),
          ownerId: context.ownerId,
          trigger: 'workflow',
          parent: await parentOf(engine, context),
          idempotencyKey: keyOf(context),
          traceparent: formatTraceparent(context.span.spanContext()),
          ...(version !== undefined && { version }),
          ...bounds,
          ...(callerToken !== undefined && { callerToken }),
          ...(context.permissions && { permissions: context.permissions }),
        });
      };
      const child = (await findStarted(engine, context, bounds)) ?? (await start());
      // What ran this node may have ended while it was started, and found no child yet.
      if (context.signal.aborted) await engine.cancelAbandoned(context.executionId);
      if (!wait) return { kind: 'done', output: { executionId: child.id } };
      const detail = { executionId: child.id, workflowId };
      return { kind: 'parked', reason: 'child', detail };
    },
  });
}

/**
 * The rest of the bounds of the execution around it; one that nobody waits for takes its own time.
 */
function boundsOf(
  { rest = {} }: NodeContext,
  isAwaited: boolean,
  timeout: number | undefined,
): Rest {
  const { timeoutMs, ...budget } = rest;
  const limits = [timeout, isAwaited ? timeoutMs : undefined].filter((one) => one !== undefined);
  return { ...budget, ...(limits.length > 0 && { timeoutMs: Math.min(...limits) }) };
}

/**
 * What an earlier life of a resumed execution started at this node and did not come to store, because it
 * failed at another node meanwhile or was cancelled. What it started ends with it, and goes on with it.
 */
async function findStarted(engine: ChildStarter, context: NodeContext, bounds: Rest) {
  const { executionId, nodeId, iteration, resumes = 0, attempt } = context;
  if (resumes === 0) return undefined;
  const parent = { executionId, nodeId, iteration };
  const { executions } = await engine.list({ parent }, { limit: 1, offset: 0 });
  const [newest] = executions;
  const isLost = newest?.status === 'failed' || newest?.status === 'cancelled';
  if (!newest || !isLost) return newest;
  // A further attempt is meant to start anew.
  if (attempt > 1) return undefined;
  const callerToken = await context.callerToken();
  const going = { ...bounds, ...(callerToken !== undefined && { callerToken }) };
  return (await engine.goOn(newest.id, going)) ? newest : undefined;
}

/**
 * A crash finds the child that it started; a further attempt, or a resumed execution whose child failed,
 * needs a new one.
 */
function keyOf({ idempotencyKey, attempt, resumes = 0 }: NodeContext): string {
  const key = resumes === 0 ? idempotencyKey : `${idempotencyKey}:${resumes}`;
  return attempt === 1 ? key : `${key}:attempt-${attempt}`;
}

async function parentOf(engine: ChildStarter, context: NodeContext) {
  const { executionId, nodeId, iteration } = context;
  const own = await engine.find(executionId);
  const depth = own?.parent ? own.parent.depth + 1 : 0;
  if (depth >= depthMax) {
    const message = `no more than ${depthMax} workflows may lie within one another`;
    throw new Fault('invalid', message, { reason: 'workflow_too_deep' });
  }
  return { executionId, nodeId, iteration, depth };
}
