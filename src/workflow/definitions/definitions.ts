import { Fault } from '../../kit/errors.ts';
import { newId } from '../../kit/ids.ts';
import type { Flow, FlowFault } from '../flow/flow.ts';
import type { FlowCompiler } from './flow-compiler.ts';
import { factsOf } from './flow-facts.ts';
import { diffFlows, type FlowDiff } from './flow-diff.ts';
import type { FlowSecrets } from './flow-secrets.ts';
import type { Plans } from './plans.ts';
import * as refusals from './refusals.ts';
import { findTemplate } from './templates/templates.ts';
import { templateVersion, templateWorkflow } from './templates/template-workflow.ts';
import * as versions from './version-store.ts';
import type { Actor, FlowFacts, Workflow, WorkflowLabels, WorkflowVersion } from './workflow.ts';
import type { WorkflowSecrets } from './workflow-secrets.ts';
import * as store from './workflow-store.ts';
import type { Page, WorkflowFilter, WorkflowSql } from './workflow-store.ts';

export interface DefinitionsOptions {
  readonly sql: WorkflowSql;
  readonly plans: Plans;
  readonly compiler: Pick<FlowCompiler, 'read'>;
  readonly secrets: Pick<WorkflowSecrets, 'make'>;
  readonly flowSecrets: FlowSecrets;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

/** A workflow as somebody makes it; the flow is checked here. */
export interface NewDefinition extends WorkflowLabels {
  readonly flow: unknown;
  /** Whether it is published at once, as version 1; else it is a draft. */
  readonly isPublished: boolean;
  readonly templateId?: string | undefined;
}

/** What is given replaces what was. */
export interface DefinitionChange extends Partial<WorkflowLabels> {
  readonly flow?: unknown;
  /** Whether the new flow is what new executions run from now on; else it is a draft. */
  readonly isPublished: boolean;
  /** Refused unless this is still the newest version. */
  readonly expectedVersion?: number | undefined;
  /** Refused unless this is still the number of its last change. */
  readonly expectedRevision?: number | undefined;
}

interface CheckedFlow {
  readonly flow: Flow;
  readonly facts: FlowFacts;
}

/** Of many changes at once one comes through at a time. */
const triesMax = 50;

/** Workflows and their versions; those that are built in may be read and run, not changed. */
export class Definitions {
  readonly #options: DefinitionsOptions;
  readonly #sql: WorkflowSql;
  readonly #now: () => number;

  constructor(options: DefinitionsOptions) {
    this.#options = options;
    this.#sql = options.sql;
    this.#now = options.now ?? Date.now;
  }

  /** Everything that is wrong with a flow; none when it could be saved. */
  validate(flow: unknown): readonly FlowFault[] {
    return this.#options.compiler.read(flow).faults;
  }

  /** Throws `invalid` (`invalid_flow`) with every fault. */
  async create(definition: NewDefinition, ownerId: string): Promise<Workflow> {
    const { name, description, category, isPublished, templateId } = definition;
    const { flow, facts } = this.#check(definition.flow);
    const id = newId('wfl');
    const text = await this.#textOf(id, flow, async () => []);
    const at = new Date(this.#now());
    const labels = { name, description, category, tags: [...new Set(definition.tags)] };
    const secret = this.#options.secrets.make(id);
    const known = { ...labels, ...facts, id, ownerId, templateId };
    await store.insertWorkflow(this.#sql, { ...known, isPublished, secret, flow: text, at });
    return {
      ...known,
      status: isPublished ? 'active' : 'draft',
      version: isPublished ? 1 : undefined,
      latest: 1,
      revision: 1,
      createdAt: at,
      updatedAt: at,
    };
  }

  list(
    filter: WorkflowFilter,
    page: Page,
  ): Promise<{ readonly workflows: Workflow[]; readonly total: number }> {
    return store.listWorkflows(this.#sql, filter, page);
  }

  /** Throws `not_found` (`workflow_not_found`). */
  async read(id: string): Promise<Workflow> {
    const template = findTemplate(id);
    if (template) return templateWorkflow(template, await this.#templateFacts(id));
    const workflow = await store.readWorkflow(this.#sql, id);
    if (!workflow) throw refusals.unknownWorkflow();
    return workflow;
  }

  /** A version with its flow, its secrets hidden: the published one unless told, else the newest. */
  async readVersion(workflow: Workflow, version?: number): Promise<versions.StoredFlow> {
    const stored = await this.#readStored(workflow, version);
    return { ...stored, flow: this.#options.flowSecrets.hide(stored.flow) };
  }

  async #readStored(workflow: Workflow, version?: number): Promise<versions.StoredFlow> {
    const wanted = version ?? workflow.version ?? workflow.latest;
    const template = findTemplate(workflow.id);
    if (template && wanted === 1) return templateVersion(template, workflow);
    const found = await versions.readVersion(this.#sql, workflow.id, wanted);
    if (!found) throw refusals.unknownWorkflow();
    return found;
  }

  /**
   * A new flow becomes a new version, or changes the newest one while that is a draft. Throws
   * `forbidden` for others than the owner, `conflict` (`workflow_changed`, `workflow_archived`).
   */
  async change(id: string, change: DefinitionChange, actor: Actor): Promise<Workflow> {
    const flow = change.flow === undefined ? undefined : this.#check(change.flow);
    const isBlind = change.expectedVersion === undefined && change.expectedRevision === undefined;
    for (let tries = 0; tries < (isBlind ? triesMax : 1); tries += 1) {
      const before = await this.requireOwn(id, actor);
      if (before.status === 'archived') throw refusals.archived();
      requireUnchanged(before, change);
      const changed = await this.#tryChange(before, { ...change, flow }, actor.id);
      if (changed) return this.#told(id, changed.latest);
    }
    throw refusals.changedMeanwhile();
  }

  /** Takes no new starts from now on; what runs goes on, and what ran stays. */
  async archive(id: string, actor: Actor): Promise<Workflow> {
    return this.#retry(id, actor, (before) =>
      store.updateWorkflow(this.#sql, {
        ...before,
        status: 'archived',
        at: new Date(this.#now()),
      }),
    );
  }

  /** Has new executions run a version, the newest unless told; an archived workflow is active again. */
  async publish(id: string, version: number | undefined, actor: Actor): Promise<Workflow> {
    return this.#retry(id, actor, async (before) => {
      const { version: wanted } = await this.readVersion(before, version ?? before.latest);
      return this.#publish(before, wanted);
    });
  }

  /** Has new executions run a version again that was published before. */
  async rollBack(id: string, version: number, actor: Actor): Promise<Workflow> {
    return this.#retry(id, actor, async (before) => {
      const { publishedAt } = await this.readVersion(before, version);
      if (publishedAt === undefined) {
        const message = `version ${version} was never published`;
        throw new Fault('conflict', message, { reason: 'version_not_published' });
      }
      return this.#publish(before, version);
    });
  }

  /** Throws `not_found`. */
  async versions(
    id: string,
    page: versions.VersionPage,
  ): Promise<{ readonly versions: readonly WorkflowVersion[]; readonly total: number }> {
    const workflow = await this.read(id);
    if (findTemplate(id)) return { versions: [await this.readVersion(workflow, 1)], total: 1 };
    return versions.listVersions(this.#sql, id, page);
  }

  /** What the second version has that the first has not, and the other way round. */
  async diff(id: string, from: number, to: number): Promise<FlowDiff> {
    const workflow = await this.read(id);
    const [before, after] = await Promise.all([
      this.#readStored(workflow, from),
      this.#readStored(workflow, to),
    ]);
    return diffFlows(before.flow, after.flow);
  }

  /**
   * Whether this version of it may be started by somebody: drafts are their owner's to try. Throws
   * `not_found` and `conflict` otherwise.
   */
  async requireStartable(id: string, version: number, actor: Actor): Promise<void> {
    const workflow = await this.read(id);
    const { publishedAt } = await this.readVersion(workflow, version);
    const isOwn = workflow.ownerId === actor.id || actor.isAdmin;
    if (workflow.status === 'draft' && !isOwn) throw refusals.unknownWorkflow();
    if (workflow.status === 'archived') throw refusals.archived();
    if (publishedAt !== undefined || isOwn) return;
    throw refusals.draftVersion(version);
  }

  /** The workflow when it is the actor's to change; throws `forbidden` and `not_found`. */
  async requireOwn(id: string, actor: Actor): Promise<Workflow> {
    const workflow = await this.read(id);
    if (findTemplate(id)) throw refusals.builtInWorkflow();
    if (workflow.ownerId === actor.id || actor.isAdmin) return workflow;
    throw refusals.notTheOwner();
  }

  async #templateFacts(id: string): Promise<FlowFacts> {
    return factsOf((await this.#options.plans.load(id)).plan);
  }

  #check(given: unknown): CheckedFlow {
    const read = this.#options.compiler.read(given);
    if (!read.flow) throw refusals.invalidFlow(read.faults);
    return { flow: read.flow, facts: factsOf(read.plan) };
  }

  /** JSON, with its secrets sealed. */
  async #textOf(...sealing: Parameters<FlowSecrets['seal']>): Promise<string> {
    return JSON.stringify(await this.#options.flowSecrets.seal(...sealing));
  }

  async #tryChange(
    before: Workflow,
    change: Omit<DefinitionChange, 'flow'> & { readonly flow: CheckedFlow | undefined },
    actorId: string,
  ): Promise<Workflow | undefined> {
    const { name, description, category, tags } = before;
    const after = {
      ...before,
      name: change.name ?? name,
      description: change.description ?? description,
      category: change.category ?? category,
      tags: [...new Set(change.tags ?? tags)],
      at: new Date(this.#now()),
    };
    const { flow, isPublished } = change;
    if (!flow) return (await store.updateWorkflow(this.#sql, after)) ? after : undefined;
    const text = await this.#textOf(before.id, flow.flow, () => this.#storedFlows(before));
    const latest = await this.#versionToWrite(before);
    const shown = isPublished ? { latest, version: latest, status: 'active' as const } : { latest };
    const isStored = await store.updateWorkflowAndFlow(
      this.#sql,
      { ...after, ...shown },
      { ...flow.facts, flow: text, createdBy: actorId, isPublished },
    );
    return isStored ? { ...after, ...shown } : undefined;
  }

  async #storedFlows(workflow: Workflow): Promise<Flow[]> {
    const { latest, version = latest } = workflow;
    const wanted = [...new Set([latest, version])];
    const found = await Promise.all(wanted.map((one) => this.#readStored(workflow, one)));
    return found.map(({ flow }) => flow);
  }

  /** The newest version while it is a draft, else the one behind it. */
  async #versionToWrite({ id, latest }: Workflow): Promise<number> {
    const newest = await versions.readVersion(this.#sql, id, latest);
    return newest?.publishedAt === undefined ? latest : latest + 1;
  }

  #publish({ id, revision }: Workflow, version: number): Promise<boolean> {
    const at = new Date(this.#now());
    return versions.publishVersion(this.#sql, { workflowId: id, version, revision, at });
  }

  async #retry(
    id: string,
    actor: Actor,
    work: (before: Workflow) => Promise<boolean>,
  ): Promise<Workflow> {
    for (let tries = 0; tries < triesMax; tries += 1) {
      const before = await this.requireOwn(id, actor);
      if (await work(before)) return this.#told(id, before.latest);
    }
    throw refusals.changedMeanwhile();
  }

  async #told(id: string, latest: number): Promise<Workflow> {
    await this.#options.plans.changed(id, latest);
    return this.read(id);
  }
}

function requireUnchanged(before: Workflow, change: DefinitionChange): void {
  const { expectedVersion = before.latest, expectedRevision = before.revision } = change;
  if (expectedVersion === before.latest && expectedRevision === before.revision) return;
  throw refusals.changedMeanwhile();
}
