import type { Handler } from '../../kit/http/call.ts';
import type { Identity } from '../../kit/identity/identity.ts';
import type { Span } from '../../kit/trace/trace.ts';
import { formatTraceparent } from '../../kit/trace/trace-context.ts';
import type { Execution } from '../engine/execution.ts';
import type { triggerRoutes as routes } from '../schemas/triggers.ts';
import type { Delivery } from '../triggers/hooks.ts';
import { parseSchedule } from '../triggers/cron.ts';
import type { TriggerFields } from '../triggers/settings.ts';
import type { Firing, Trigger } from '../triggers/trigger.ts';
import type { Triggers } from '../triggers/triggers.ts';

type TriggerHandlers = { readonly [K in keyof typeof routes]: Handler<(typeof routes)[K]> };

export interface TriggerHandlerParts {
  readonly triggers: Triggers;
  /**
   * Refuses who may not read the workflow, or change it. Throws `not_found` or `forbidden`; says whether
   * it is theirs to change.
   */
  readonly requireWorkflow: (
    workflowId: string,
    identity: Identity,
    access: 'read' | 'change',
  ) => Promise<{ readonly isOwn: boolean }>;
  /** Where a webhook is reached. */
  readonly hookUrlOf: (triggerId: string) => string;
}

const waitMs = 60_000;
const runsShown = 5;

/** The edge of triggers. */
export function triggerHandlers(parts: TriggerHandlerParts): TriggerHandlers {
  const { triggers, requireWorkflow, hookUrlOf } = parts;
  const answer = (trigger: Trigger) => toAnswer(trigger, hookUrlOf(trigger.id));
  /** Who reads: the address of an open hook is all that it takes to start the workflow. */
  const readerOf = async (workflowId: string, identity: Identity) => {
    const { isOwn } = await requireWorkflow(workflowId, identity, 'read');
    return isOwn ? undefined : identity.subject;
  };
  return {
    createTrigger: async ({ params: { workflowId }, body, identity }) => {
      await requireWorkflow(workflowId, identity, 'change');
      const { type, name, enabled = true, secret } = body;
      const created = await triggers.create({
        ...fieldsOf(body),
        workflowId,
        ownerId: identity.subject,
        type,
        name,
        isEnabled: enabled,
        secret,
        permissions: identity.permissions,
      });
      return {
        ...answer(created.trigger),
        ...(created.secret === undefined ? {} : { secret: created.secret }),
      };
    },
    listTriggers: async ({ params: { workflowId }, query: { limit, offset }, identity }) => {
      const seenBy = await readerOf(workflowId, identity);
      const found = await triggers.list({ workflowId, seenBy }, { limit, offset });
      return { triggers: found.triggers.map(answer), total: found.total, limit, offset };
    },
    readTrigger: async ({ params: { workflowId, triggerId }, identity }) => {
      const seenBy = await readerOf(workflowId, identity);
      return answer(await triggers.read(workflowId, triggerId, seenBy));
    },
    changeTrigger: async ({ params: { workflowId, triggerId }, body, identity }) => {
      await requireWorkflow(workflowId, identity, 'change');
      const { name, enabled, secret } = body;
      const { subject: by, permissions } = identity;
      const change = { ...fieldsOf(body), name, isEnabled: enabled, secret, by, permissions };
      return answer(await triggers.change(workflowId, triggerId, change));
    },
    deleteTrigger: async ({ params: { workflowId, triggerId }, identity }) => {
      await requireWorkflow(workflowId, identity, 'change');
      await triggers.delete(workflowId, triggerId);
      return { id: triggerId, deleted: true };
    },
    listFirings: async ({ params, query: { limit, offset }, identity }) => {
      const { workflowId, triggerId } = params;
      const seenBy = await readerOf(workflowId, identity);
      await triggers.read(workflowId, triggerId, seenBy);
      const found = await triggers.firings(triggerId, { limit, offset });
      return { firings: found.firings.map(toFiringAnswer), total: found.total, limit, offset };
    },
    ...hookHandlers(triggers),
  };
}

function hookHandlers(triggers: Triggers) {
  const deliver = (method: string) => async (call: HookCall) => {
    const { wait = false, ...query } = call.query;
    const { headers, bytes: body, span, signal } = call;
    const delivered = await triggers.deliver(
      call.params.triggerId,
      { method, headers, query, body },
      formatTraceparent(span.spanContext()),
    );
    call.setStatus(202);
    if (delivered.kind === 'ignored') return { status: 'ignored' };
    const { execution } = delivered;
    if (!wait) return { status: execution.status, executionId: execution.id };
    const ended = await triggers.wait(execution.id, waitMs, signal);
    if (ended.completedAtMs !== undefined) call.setStatus(200);
    return toHookAnswer(ended);
  };
  return { postHook: deliver('POST'), putHook: deliver('PUT'), getHook: deliver('GET') };
}

interface HookCall {
  readonly params: { readonly triggerId: string };
  readonly query: { readonly wait?: boolean } & Readonly<Record<string, unknown>>;
  readonly headers: Delivery['headers'];
  readonly bytes: Buffer;
  readonly span: Span;
  readonly signal: AbortSignal;
  setStatus(status: number): void;
}

function toHookAnswer({ id, status, result, error }: Execution) {
  return {
    status,
    executionId: id,
    ...(result === undefined ? {} : { result: { ...result } }),
    ...(error === undefined ? {} : { error: { ...error } }),
  };
}

function fieldsOf(
  body: Omit<TriggerFields, 'inputs'> & { readonly inputs?: object | undefined },
): TriggerFields {
  const { cron, timeZone, overlap, method, verification, topic, filter } = body;
  // The schema says that it is an object of JSON.
  const inputs = body.inputs as TriggerFields['inputs'];
  return { cron, timeZone, overlap, method, verification, topic, filter, inputs };
}

function toAnswer(trigger: Trigger, hookUrl: string) {
  const { id, workflowId, type, name, isEnabled, settings, firedAt } = trigger;
  const { inputs, ...plain } = settings;
  return {
    id,
    workflowId,
    type,
    ...(name === undefined ? {} : { name }),
    enabled: isEnabled,
    ...plain,
    ...(inputs === undefined ? {} : { inputs: { ...inputs } }),
    ...(type === 'webhook' ? { hookUrl } : {}),
    ...(type === 'schedule' && isEnabled ? { nextRuns: nextRunsOf(trigger) } : {}),
    firedCount: trigger.firedCount,
    ...(firedAt ? { firedAt: firedAt.toISOString() } : {}),
    ownerId: trigger.ownerId,
    createdAt: trigger.createdAt.toISOString(),
    updatedAt: trigger.updatedAt.toISOString(),
  };
}

/** From the stored one on, which may be overdue for a moment. */
function nextRunsOf({ settings, nextAt }: Trigger): string[] {
  if (!nextAt) return [];
  const { cron = '', timeZone } = settings;
  const before = new Date(nextAt.getTime() - 1);
  const runs = parseSchedule(cron, timeZone, before).nextRuns(runsShown, before);
  return runs.map((run) => run.toISOString());
}

function toFiringAnswer({ id, key, status, at, executionId, error }: Firing) {
  return {
    id,
    key,
    status,
    at: at.toISOString(),
    ...(executionId === undefined ? {} : { executionId }),
    ...(error === undefined ? {} : { error }),
  };
}
