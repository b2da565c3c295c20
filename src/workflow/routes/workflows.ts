import type { Call, Handler } from '../../kit/http/call.ts';
import { Fault } from '../../kit/errors.ts';
import type { Log } from '../../kit/log.ts';
import type { Catalog, ShownTemplate } from '../definitions/catalog.ts';
import type { Definitions } from '../definitions/definitions.ts';
import { readShown, readShownVersion, seesDrafts } from '../definitions/drafts.ts';
import type { MeasuredTimes } from '../definitions/measured-times.ts';
import type { WorkflowSecrets } from '../definitions/workflow-secrets.ts';
import type { Workflow, WorkflowVersion } from '../definitions/workflow.ts';
import type { Flow, FlowFault } from '../flow/flow.ts';
import type { workflowRoutes as routes } from '../schemas/workflows.ts';
import { actorOf } from './actor.ts';

type WorkflowHandlers = { readonly [K in keyof typeof routes]: Handler<(typeof routes)[K]> };

export interface WorkflowHandlerParts {
  readonly definitions: Definitions;
  readonly catalog: Catalog;
  readonly times: MeasuredTimes;
  readonly secrets: WorkflowSecrets;
  /** Told of a workflow that takes no starts from now on. */
  readonly onArchived: (workflowId: string) => Promise<unknown>;
  readonly log: Log;
}

/** The edge of the workflows, the catalog and the templates. */
export function workflowHandlers(parts: WorkflowHandlerParts): WorkflowHandlers {
  return { ...listHandlers(parts), ...changeHandlers(parts), ...versionHandlers(parts) };
}

type Listing =
  | 'readCatalog'
  | 'listTemplates'
  | 'instantiateTemplate'
  | 'listWorkflows'
  | 'validateFlow';

function listHandlers({
  definitions,
  catalog,
  times,
}: WorkflowHandlerParts): Pick<WorkflowHandlers, Listing> {
  return {
    readCatalog: async ({ query }) => {
      const { limit, offset, ...filter } = query;
      const { workflows, total } = await catalog.list(filter, query);
      const measured = await times.read(workflows.map(({ id }) => id));
      const items = workflows.map((one) => toItem(one, measured.get(one.id)));
      return { workflows: items, total, limit, offset };
    },
    listTemplates: async () => ({ templates: (await catalog.templates()).map(toTemplate) }),
    instantiateTemplate: async ({ params, body, identity }) =>
      toAnswer(await catalog.instantiate(params.id, body, actorOf(identity))),
    listWorkflows: async ({ query, identity }) => {
      const { limit, offset, owner, ...filter } = query;
      const ownerId = owner === 'me' ? identity.subject : owner;
      const { id, isAdmin } = actorOf(identity);
      const seenBy = isAdmin ? undefined : id;
      const { workflows, total } = await definitions.list({ ...filter, ownerId, seenBy }, query);
      return { workflows: workflows.map(toAnswer), total, limit, offset };
    },
    validateFlow: ({ body }) => toValidity(definitions.validate(body.flow)),
  };
}

type Changing =
  | 'createWorkflow'
  | 'readWorkflow'
  | 'changeWorkflow'
  | 'archiveWorkflow'
  | 'readWorkflowSecret';

function changeHandlers({
  definitions,
  secrets,
  onArchived,
  log,
}: WorkflowHandlerParts): Pick<WorkflowHandlers, Changing> {
  return {
    createWorkflow: async (call) => {
      const { body, identity } = call;
      const { name, flow, description = '', category = 'general', tags = [] } = body;
      const isPublished = body.status !== 'draft';
      const labels = { name, description, category, tags };
      const made = await definitions.create({ ...labels, flow, isPublished }, identity.subject);
      log.info({ workflowId: made.id, by: identity.subject }, 'a workflow was made');
      return answerTagged(call, made);
    },
    readWorkflow: async (call) => {
      const { params, query } = call;
      const actor = actorOf(call.identity);
      const workflow = await readShown(definitions, params.id, actor);
      const given = { version: query.version, actor };
      const { flow, version } = await readShownVersion(definitions, workflow, given);
      return { ...answerTagged(call, workflow), flowVersion: version, flow: copyOf(flow) };
    },
    changeWorkflow: async (call) => {
      const { params, body, identity, headers } = call;
      const { publish: isPublished = true, ...change } = body;
      const expectedRevision = revisionOf(headers['if-match']);
      const changed = await definitions.change(
        params.id,
        { ...change, isPublished, expectedRevision },
        actorOf(identity),
      );
      log.info({ workflowId: changed.id, by: identity.subject }, 'a workflow was changed');
      return answerTagged(call, changed);
    },
    archiveWorkflow: async (call) => {
      const { params, identity } = call;
      const archived = await definitions.archive(params.id, actorOf(identity));
      await onArchived(archived.id);
      log.info({ workflowId: archived.id, by: identity.subject }, 'a workflow was archived');
      return answerTagged(call, archived);
    },
    readWorkflowSecret: async (call) => {
      const { params, identity } = call;
      await definitions.requireOwn(params.id, actorOf(identity));
      const secret = await secrets.read(params.id);
      call.setHeader('cache-control', 'no-store');
      return { workflowId: params.id, secret };
    },
  };
}

type Versioning =
  | 'publishWorkflow'
  | 'rollBackWorkflow'
  | 'listVersions'
  | 'diffVersions'
  | 'validateWorkflow';

function versionHandlers({
  definitions,
  log,
}: WorkflowHandlerParts): Pick<WorkflowHandlers, Versioning> {
  return {
    publishWorkflow: async (call) => {
      const { params, body, identity } = call;
      const published = await definitions.publish(params.id, body.version, actorOf(identity));
      log.info({ workflowId: published.id, by: identity.subject }, 'a workflow was published');
      return answerTagged(call, published);
    },
    rollBackWorkflow: async (call) => {
      const { params, body, identity } = call;
      const before = await definitions.rollBack(params.id, body.version, actorOf(identity));
      log.info({ workflowId: before.id, by: identity.subject }, 'a workflow was rolled back');
      return answerTagged(call, before);
    },
    listVersions: async ({ params, query, identity }) => {
      const actor = actorOf(identity);
      const workflow = await readShown(definitions, params.id, actor);
      const isWhole = seesDrafts(workflow, actor);
      const { versions, total } = await definitions.versions(params.id, { ...query, isWhole });
      const { limit, offset } = query;
      return { versions: versions.map((one) => toVersion(one, workflow)), total, limit, offset };
    },
    diffVersions: async ({ params, query: { from, to }, identity }) => {
      const actor = actorOf(identity);
      const workflow = await readShown(definitions, params.id, actor);
      await readShownVersion(definitions, workflow, { version: from, actor });
      await readShownVersion(definitions, workflow, { version: to, actor });
      const { nodes, edges, isSettingsChanged } = await definitions.diff(params.id, from, to);
      return {
        from,
        to,
        nodes: {
          added: [...nodes.added],
          removed: [...nodes.removed],
          changed: nodes.changed.map(({ nodeId, fields }) => ({ nodeId, fields: [...fields] })),
        },
        edges: { added: [...edges.added], removed: [...edges.removed] },
        settingsChanged: isSettingsChanged,
      };
    },
    validateWorkflow: async ({ params, body, identity }) => {
      const actor = actorOf(identity);
      const workflow = await readShown(definitions, params.id, actor);
      const newest = seesDrafts(workflow, actor) ? workflow.latest : workflow.version;
      const given = { version: body.version ?? newest, actor };
      const { flow } = await readShownVersion(definitions, workflow, given);
      return toValidity(definitions.validate(flow));
    },
  };
}

/** A workflow as it is answered, with the `ETag` that a change of it may name. */
function answerTagged(call: Pick<Call, 'setHeader'>, workflow: Workflow) {
  call.setHeader('etag', `"${workflow.revision}"`);
  return toAnswer(workflow);
}

/** A workflow as it is answered. */
export function toAnswer(workflow: Workflow) {
  const { id, name, status, version, latest, createdAt, updatedAt, templateId } = workflow;
  const { description, category, tags, ownerId, revision, components, complexity } = workflow;
  const path = `/api/v1/workflows/${id}`;
  return {
    id,
    name,
    status,
    version: version ?? latest,
    createdAt: createdAt.toISOString(),
    endpoints: { execute: `${path}/execute`, monitor: `${path}/executions` },
    description,
    category,
    tags: [...tags],
    ownerId,
    latestVersion: latest,
    revision,
    components,
    complexity,
    ...(templateId === undefined ? {} : { templateId }),
    updatedAt: updatedAt.toISOString(),
  };
}

function toItem(workflow: Workflow, measuredMs: number | undefined) {
  const { id, name, description, category, complexity, components, tags } = workflow;
  return {
    id,
    name,
    description,
    category,
    complexity,
    components,
    estimatedDuration: measuredMs ?? workflow.typicalMs,
    tags: [...tags],
    version: workflow.version ?? workflow.latest,
    builtIn: workflow.templateId === id,
  };
}

function toTemplate(template: ShownTemplate) {
  const { id, name, description, category, components, usageCount, complexity } = template;
  return {
    id,
    name,
    description,
    category,
    components,
    usageCount,
    complexity,
    tags: [...template.tags],
    inputs: [...template.inputs],
    flow: copyOf(template.flow),
  };
}

function toVersion(version: WorkflowVersion, workflow: Workflow) {
  const { publishedAt, components, complexity, createdBy, createdAt } = version;
  const isPublished = publishedAt !== undefined;
  return {
    version: version.version,
    status: isPublished ? ('published' as const) : ('draft' as const),
    isCurrent: workflow.version === version.version,
    components,
    complexity,
    createdBy,
    createdAt: createdAt.toISOString(),
    ...(isPublished ? { publishedAt: publishedAt.toISOString() } : {}),
  };
}

function toValidity(faults: readonly FlowFault[]) {
  return { valid: faults.length === 0, faults: [...faults] };
}

/** With lists that the answer's type may change. */
function copyOf({ nodes, edges, settings }: Flow) {
  return {
    nodes: nodes.map((one) => ({ ...one })),
    edges: [...edges],
    ...(settings ? { settings } : {}),
  };
}

/** The number of the change that an `If-Match` names; none where it names any. */
function revisionOf(ifMatch: string | undefined): number | undefined {
  if (ifMatch === undefined || ifMatch === '*') return undefined;
  const [, digits] = /^\s*(?:W\/)?"(\d{1,9})"\s*$/.exec(ifMatch) ?? [];
  if (digits !== undefined) return Number(digits);
  throw new Fault('invalid', 'If-Match must be an ETag as it was answered', {
    reason: 'validation_error',
    detail: { param: 'If-Match' },
  });
}
