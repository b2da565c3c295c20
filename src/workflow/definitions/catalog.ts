import { findTemplate, templates } from './templates/templates.ts';
import type { Template } from './templates/template.ts';
import {
  countTemplateUse,
  readActiveNames,
  readTemplateUses,
  type ActiveName,
} from './catalog-store.ts';
import { requireComponents } from '../components/component-permissions.ts';
import type { Plans } from './plans.ts';
import type { Definitions } from './definitions.ts';
import { unknownWorkflow } from './refusals.ts';
import type { Actor, Complexity, FlowFacts, Workflow } from './workflow.ts';
import { readWorkflows, type Page, type WorkflowSql } from './workflow-store.ts';

export interface CatalogOptions {
  readonly sql: WorkflowSql;
  readonly definitions: Definitions;
  readonly plans: Pick<Plans, 'load'>;
}

export interface CatalogFilter {
  readonly category?: string | undefined;
  readonly complexity?: Complexity | undefined;
  readonly tag?: string | undefined;
  readonly q?: string | undefined;
}

/** A template as it is shown. */
export interface ShownTemplate extends Omit<Template, 'flow'>, FlowFacts {
  readonly flow: Template['flow'];
  readonly usageCount: number;
}

/** What may be run: built-in workflows first, then those that are active. */
export class Catalog {
  readonly #sql: WorkflowSql;
  readonly #definitions: Definitions;
  readonly #plans: Pick<Plans, 'load'>;

  constructor(options: CatalogOptions) {
    this.#sql = options.sql;
    this.#definitions = options.definitions;
    this.#plans = options.plans;
  }

  /** One page, and the number of all that match. */
  async list(
    filter: CatalogFilter,
    { limit, offset }: Page,
  ): Promise<{ readonly workflows: readonly Workflow[]; readonly total: number }> {
    const builtIn = (await this.#builtIn()).filter((one) => matches(one, filter));
    const shown = builtIn.slice(offset, offset + limit);
    const { workflows, total } = await this.#definitions.list(
      { ...filter, status: 'active' },
      { limit: limit - shown.length, offset: Math.max(0, offset - builtIn.length) },
    );
    return { workflows: [...shown, ...workflows], total: builtIn.length + total };
  }

  /** The names of all that may be run. */
  async names(): Promise<readonly ActiveName[]> {
    const [builtIn, active] = await Promise.all([this.#builtIn(), readActiveNames(this.#sql)]);
    return [...builtIn.map(({ createdAt, ...one }) => ({ ...one, namedAt: createdAt })), ...active];
  }

  /** Those of the ids that there are, in no order. */
  async readAll(ids: readonly string[]): Promise<readonly Workflow[]> {
    const wanted = new Set(ids);
    const builtIn = (await this.#builtIn()).filter(({ id }) => wanted.has(id));
    return [...builtIn, ...(await readWorkflows(this.#sql, ids))];
  }

  /** All templates, with how often each was used. */
  async templates(): Promise<ShownTemplate[]> {
    const [uses, known] = await Promise.all([readTemplateUses(this.#sql), this.#builtIn()]);
    const facts = new Map(known.map((one) => [one.id, one]));
    return templates.map((template) => {
      const { components = 0, complexity = 'simple', typicalMs = 0 } = facts.get(template.id) ?? {};
      const usageCount = uses.get(template.id) ?? 0;
      return { ...template, components, complexity, typicalMs, usageCount };
    });
  }

  /**
   * A workflow of one's own, made from a template; throws `not_found`, and `forbidden` for who could
   * not start it.
   */
  async instantiate(
    templateId: string,
    { name }: { readonly name?: string | undefined },
    { id: ownerId, permissions }: Pick<Actor, 'id' | 'permissions'>,
  ): Promise<Workflow> {
    const template = findTemplate(templateId);
    if (!template) throw unknownWorkflow();
    requireComponents((await this.#plans.load(templateId)).plan, permissions);
    const { description, category, tags, flow } = template;
    const made = await this.#definitions.create(
      {
        name: name ?? template.name,
        description,
        category,
        tags,
        flow,
        isPublished: true,
        templateId,
      },
      ownerId,
    );
    await countTemplateUse(this.#sql, templateId);
    return made;
  }

  /** Counts a start of a built-in workflow; does nothing for others. */
  async countUse(workflowId: string): Promise<void> {
    if (findTemplate(workflowId)) await countTemplateUse(this.#sql, workflowId);
  }

  #builtIn(): Promise<Workflow[]> {
    return Promise.all(templates.map(({ id }) => this.#definitions.read(id)));
  }
}

function matches(workflow: Workflow, { category, complexity, tag, q }: CatalogFilter): boolean {
  if (category !== undefined && workflow.category !== category) return false;
  if (complexity !== undefined && workflow.complexity !== complexity) return false;
  if (tag !== undefined && !workflow.tags.includes(tag)) return false;
  const text = `${workflow.name} ${workflow.description}`.toLowerCase();
  return q === undefined || text.includes(q.toLowerCase());
}
