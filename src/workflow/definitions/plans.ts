import type { Bus, Subscription, Topic } from '../../kit/bus/bus.ts';
import { Fault } from '../../kit/errors.ts';
import type { PlanSource } from '../engine/execution.ts';
import type { Plan } from '../flow/plan.ts';
import type { FlowCompiler } from './flow-compiler.ts';
import type { FlowSecrets } from './flow-secrets.ts';
import { unknownWorkflow } from './refusals.ts';
import { findTemplate } from './templates/templates.ts';
import { readPointer, readVersion, type Pointer } from './version-store.ts';
import type { WorkflowSql } from './workflow-store.ts';

/** What replicas tell one another when a workflow runs another version from now on, or none. */
export interface PointerChange extends Partial<Pointer> {
  readonly workflowId: string;
}

/** The topic of `PointerChange`. */
export const definitionsTopic = 'workflow.definitions';

export interface PlansOptions {
  readonly sql: WorkflowSql;
  readonly bus: Bus;
  readonly compiler: Pick<FlowCompiler, 'compile'>;
  readonly flowSecrets: Pick<FlowSecrets, 'open'>;
  /** Milliseconds on any clock that does not go back; the process's own when absent. */
  readonly now?: () => number;
}

interface Loaded {
  readonly version: number;
  readonly plan: Plan;
}

interface KnownPlan {
  readonly plan: Promise<Plan>;
  size: number;
}

const planSizeMax = 48 * 1024 * 1024;
const plansMax = 2_000;
const pointersMax = 20_000;
/** Should a message of the bus be lost, an old version starts no longer than this. */
const pointerMsMax = 10_000;

/** Compiled flows, kept as long as there is room: versions that were published never change. */
export class Plans implements PlanSource, AsyncDisposable {
  readonly #options: PlansOptions;
  readonly #now: () => number;
  readonly #topic: Topic<PointerChange>;
  readonly #plans = new Map<string, KnownPlan>();
  readonly #templatePlans = new Map<string, Plan>();
  readonly #pointers = new Map<string, { readonly pointer: Pointer; readonly untilMs: number }>();
  #subscription: Subscription | undefined;
  #size = 0;

  private constructor(options: PlansOptions, topic: Topic<PointerChange>) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#topic = topic;
  }

  /** Listens to what other replicas change. */
  static async open(options: PlansOptions): Promise<Plans> {
    const topic = options.bus.topic<PointerChange>(definitionsTopic);
    const plans = new Plans(options, topic);
    plans.#subscription = await topic.subscribe(({ data }) =>
      plans.#pointers.delete(data.workflowId),
    );
    return plans;
  }

  async load(workflowId: string, version?: number): Promise<Loaded> {
    const template = findTemplate(workflowId);
    if (template) {
      if (version !== undefined && version !== 1) throw unknownWorkflow();
      return { version: 1, plan: this.#compileTemplate(workflowId, template.flow) };
    }
    const wanted = version ?? (await this.#publishedVersion(workflowId));
    return { version: wanted, plan: await this.#plan(workflowId, wanted) };
  }

  /** Has all replicas run another version of it from now on; a draft that changed is forgotten here. */
  async changed(workflowId: string, draft?: number): Promise<void> {
    this.#pointers.delete(workflowId);
    if (draft !== undefined) this.#forget(`${workflowId}@${draft}`);
    await this.#topic.publish({ workflowId });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#subscription?.close();
  }

  async #publishedVersion(workflowId: string): Promise<number> {
    const { status, version } = await this.#pointer(workflowId);
    if (status === 'active' && version !== undefined) return version;
    const message =
      status === 'archived'
        ? 'the workflow is archived: publish it to start it again'
        : 'the workflow is a draft: publish it first';
    throw new Fault('conflict', message, { reason: 'workflow_not_active', detail: { status } });
  }

  async #pointer(workflowId: string): Promise<Pointer> {
    const known = this.#pointers.get(workflowId);
    if (known && known.untilMs > this.#now()) return known.pointer;
    const pointer = await readPointer(this.#options.sql, workflowId);
    if (!pointer) throw unknownWorkflow();
    this.#pointers.delete(workflowId);
    this.#pointers.set(workflowId, { pointer, untilMs: this.#now() + pointerMsMax });
    dropOldest(this.#pointers, pointersMax);
    return pointer;
  }

  #compileTemplate(id: string, flow: Plan['flow']): Plan {
    const known = this.#templatePlans.get(id);
    if (known) return known;
    const plan = this.#options.compiler.compile(flow);
    this.#templatePlans.set(id, plan);
    return plan;
  }

  #plan(workflowId: string, version: number): Promise<Plan> {
    const key = `${workflowId}@${version}`;
    const known = this.#plans.get(key);
    if (known) {
      // The last used is the last in the map.
      this.#plans.delete(key);
      this.#plans.set(key, known);
      return known.plan;
    }
    const entry: KnownPlan = { plan: this.#readPlan(workflowId, version, key), size: 0 };
    this.#plans.set(key, entry);
    entry.plan.catch(() => {
      if (this.#plans.get(key) === entry) this.#forget(key);
    });
    return entry.plan;
  }

  async #readPlan(workflowId: string, version: number, key: string): Promise<Plan> {
    const stored = await readVersion(this.#options.sql, workflowId, version);
    if (!stored) throw unknownWorkflow();
    const { compiler, flowSecrets } = this.#options;
    const plan = compiler.compile(flowSecrets.open(workflowId, stored.flow));
    const entry = this.#plans.get(key);
    // A draft may change on any replica.
    if (stored.publishedAt === undefined) this.#forget(key);
    else if (entry) this.#weigh(entry, stored.size);
    return plan;
  }

  #weigh(entry: KnownPlan, size: number): void {
    entry.size = size;
    this.#size += size;
    for (const key of this.#plans.keys()) {
      if (this.#size <= planSizeMax && this.#plans.size <= plansMax) return;
      this.#forget(key);
    }
  }

  #forget(key: string): void {
    const entry = this.#plans.get(key);
    if (!entry) return;
    this.#plans.delete(key);
    this.#size -= entry.size;
  }
}

function dropOldest(map: Map<string, unknown>, countMax: number): void {
  for (const key of map.keys()) {
    if (map.size <= countMax) return;
    map.delete(key);
  }
}
