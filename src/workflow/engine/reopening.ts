import { Fault } from '../../kit/errors.ts';
import type { Rest } from '../components/component.ts';
import type { Plan } from '../flow/plan.ts';
import { readChildren } from './children-store.ts';
import type { Clock } from './clock.ts';
import type { StoredExecution, StoredRequest } from './journal/execution-row.ts';
import type { GoingOn, PlanSource, Resumption } from './execution.ts';
import { readExecution } from './journal/executions-store.ts';
import { executionNotFound } from './follow.ts';
import { nodeKey, type NodeEntry } from './journal/journal-row.ts';
import type { EngineSql } from './journal/journal-store.ts';
import { readNodesAt } from './journal/node-runs-store.ts';
import { reopenExecution, type KeptNode } from './reopening-store.ts';
import { deadlineOf, keepToken } from './requests.ts';
import type { EngineSealer } from './journal/output-secrets.ts';
import { requireBudget, restOfBudget } from './run/run-limits.ts';

export interface ReopeningOptions {
  readonly sql: EngineSql;
  readonly plans: PlanSource;
  readonly sealer: EngineSealer;
  readonly clock: Clock;
}

/** With what an execution goes on. */
interface Again {
  readonly callerToken: string | undefined;
  /** In place of those of its request. */
  readonly changes: Pick<StoredRequest, 'maxTokens' | 'maxCost' | 'timeoutMs' | 'counted'>;
}

/** An execution about to go on, with what those within it may have. */
interface Around extends Pick<Again, 'callerToken'> {
  readonly stored: StoredExecution;
  readonly plan: Plan;
  readonly deadlineAtMs: number | undefined;
}

const nothing = { tokens: 0, cost: 0 };

/** Queues executions again that failed or were cancelled. */
export class Reopening {
  readonly #options: ReopeningOptions;

  constructor(options: ReopeningOptions) {
    this.#options = options;
  }

  /** Throws `conflict` (`not_resumable`, `budget_exceeded`) when it cannot go on. */
  reopen(executionId: string, asker: Resumption): Promise<StoredExecution> {
    const { callerToken, ...changes } = asker;
    return this.#reopen(executionId, { callerToken, changes });
  }

  /**
   * Has a lost execution within another go on with the rest of the bounds around it; false where it has to
   * be started anew.
   */
  async goOn(executionId: string, { callerToken, ...rest }: GoingOn): Promise<boolean> {
    const child = await readExecution(this.#options.sql, executionId);
    if (!child) return false;
    const counted = child.request.counted ?? nothing;
    return this.#reopenChild(child, {
      callerToken,
      changes: { counted, ...beyond(counted, rest) },
    });
  }

  async #reopen(executionId: string, { callerToken, changes }: Again): Promise<StoredExecution> {
    const { sql, plans, sealer, clock } = this.#options;
    const before = await readExecution(sql, executionId);
    if (!before) throw executionNotFound();
    const { plan } = await plans.load(before.workflowId, before.version);
    const stored = { ...before, request: { ...before.request, ...changes } };
    requireBudget(stored, plan);
    const deadlineAtMs = deadlineOf(stored.request, plan, clock.nowMs());
    // Before the execution itself: one that is taken up finds them running.
    const kept = isOver(before)
      ? await this.#keepChildren({ stored, plan, deadlineAtMs, callerToken })
      : [];
    const { request } = stored;
    const sealedToken = keepToken(callerToken, plan, sealer);
    const fresh = { request, deadlineAtMs, sealedToken, kept };
    const reopened = await reopenExecution(sql, executionId, fresh);
    if (reopened) return reopened;
    const message = 'only what failed or was cancelled can be resumed';
    throw new Fault('conflict', message, { reason: 'not_resumable' });
  }

  /**
   * Nodes that go on waiting for an execution within: where it still runs or was completed, and where it
   * can go on as well. The others run again, and start it anew.
   */
  async #keepChildren(around: Around): Promise<KeptNode[]> {
    const { id } = around.stored;
    const newest = new Map<string, StoredExecution>();
    for (const child of await readChildren(this.#options.sql, id)) {
      const { nodeId = '', iteration = '' } = child.request.parent ?? {};
      const key = nodeKey(nodeId, iteration);
      if (!newest.has(key)) newest.set(key, child);
    }
    const places = [...newest.values()].flatMap(({ request }) => request.parent ?? []);
    const entries = places.length > 0 ? await readNodesAt(this.#options.sql, id, places) : [];
    const kept: KeptNode[] = [];
    for (const entry of entries) {
      const child = newest.get(nodeKey(entry.nodeId, entry.iteration));
      if (child && entry.body.detail?.['executionId'] === child.id) {
        kept.push(...(await this.#keepChild(entry, child, around)));
      }
    }
    return kept;
  }

  async #keepChild(entry: NodeEntry, child: StoredExecution, around: Around): Promise<KeptNode[]> {
    const { nodeId, iteration, status, body } = entry;
    if (body.reason !== 'child' || body.isDropped) return [];
    if (!isOver(child)) return status === 'waiting' ? [{ nodeId, iteration }] : [];
    const isOpen = status === 'completed' || status === 'continued';
    const again = {
      callerToken: around.callerToken,
      changes: this.#changesFor(entry, child, around),
    };
    if (isOpen || !(await this.#reopenChild(child, again))) return [];
    const { place, startedAtMs, reason, detail, usage } = body;
    const known = { place, startedAtMs, attempt: 1, reason, ...(detail ? { detail } : {}) };
    return [{ nodeId, iteration, body: { ...known, ...(usage ? { usage } : {}) } }];
  }

  /** False where it has to be started anew: in another version it may end better. */
  async #reopenChild(child: StoredExecution, again: Again): Promise<boolean> {
    if (child.status === 'failed' && child.outcome?.retryable !== true) return false;
    try {
      await this.#reopen(child.id, again);
      return true;
    } catch (error) {
      // Somebody else has it go on, or its flow or its budget is no more.
      const fault = Fault.from(error);
      if (fault.code !== 'conflict' && fault.code !== 'not_found') throw error;
      return fault.reason === 'not_resumable';
    }
  }

  /** The rest of the bounds of the execution around it, which has counted some of it already. */
  #changesFor(
    { nodeId, status }: NodeEntry,
    child: StoredExecution,
    { stored, plan, deadlineAtMs }: Around,
  ): Again['changes'] {
    // What the node came to was counted when it failed, and not before.
    const own = { tokens: child.tokensUsed, cost: child.cost };
    const counted = status === 'failed' ? own : (child.request.counted ?? nothing);
    const timeoutMs = leastOf(
      deadlineAtMs === undefined ? undefined : deadlineAtMs - this.#options.clock.nowMs(),
      ...timeoutsOf(plan, nodeId),
    );
    return {
      counted,
      // Without one around it, it has its own time only.
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...beyond(counted, restOfBudget(stored, plan)),
    };
  }
}

/** Bounds that leave the given rest to what has been counted already. */
function beyond(counted: typeof nothing, { maxTokens, maxCost, ...rest }: Rest): Rest {
  return {
    ...rest,
    ...(maxTokens === undefined ? {} : { maxTokens: counted.tokens + maxTokens }),
    ...(maxCost === undefined ? {} : { maxCost: counted.cost + maxCost }),
  };
}

/** What a node allows the execution that it waits for. */
function timeoutsOf({ nodes }: Plan, nodeId: string): readonly (number | undefined)[] {
  const node = nodes.get(nodeId)?.node;
  const timeout = node?.data['timeout'];
  return [node?.timeout, typeof timeout === 'number' ? timeout : undefined];
}

function leastOf(...times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length > 0 ? Math.max(1, Math.min(...known)) : undefined;
}

function isOver({ status }: StoredExecution): boolean {
  return status === 'failed' || status === 'cancelled';
}
