import { Type } from 'typebox';
import type { Route } from '../../kit/contract.ts';
import { pageAnswer, pageQuery } from '../../kit/paging.ts';
import { flowFaultSchema } from '../flow/schema.ts';
import { mayFollow, mayCreate, mayRead } from './access.ts';
import {
  catalogItem,
  complexity,
  diffAnswer,
  line,
  lines,
  status,
  templateAnswer,
  versionAnswer,
  workflowAnswer,
  workflowParams as params,
  workflowWithFlow,
} from './workflow-answers.ts';

const path = '/api/v1/workflows';
/** More than a flow may hold, so that one that is too large is refused with the reason. */
const bodyBytesMax = 8 * 1024 * 1024;

const category = line(64, 'what kind of work it is for');
const tag = line(64, 'a word to find it by');
const version = Type.Integer({ minimum: 1, maximum: 2_147_483_647 });
/** Its shape is that of `flow` in answers; the faults of one that does not hold are all told. */
const flow = Type.Object(
  {},
  {
    additionalProperties: true,
    description:
      '{`nodes`, `edges`, `settings`} as `Flow` says. Saved only without faults, which are all listed otherwise',
  },
);

const labels = {
  name: line(200, 'what it is called'),
  description: lines(4_000, 'what it does'),
  category,
  tags: Type.Array(tag, { maxItems: 20 }),
};

const validity = {
  200: Type.Object({ valid: Type.Boolean(), faults: Type.Array(flowFaultSchema) }),
};

const search = {
  category: Type.Optional(category),
  tag: Type.Optional(tag),
  q: Type.Optional(line(200, 'a part of the name or the description')),
};

/** Workflows, their versions, the catalog and the templates. */
export const workflowRoutes = {
  readCatalog: {
    method: 'GET',
    url: `${path}/catalog`,
    summary: 'List what may be run: built-in workflows and those that are active',
    permission: mayFollow,
    schema: {
      query: Type.Object({
        ...search,
        complexity: Type.Optional(complexity),
        ...pageQuery({ usual: 100 }),
      }),
      response: { 200: Type.Object({ workflows: Type.Array(catalogItem), ...pageAnswer }) },
    },
  },
  listTemplates: {
    method: 'GET',
    url: `${path}/templates`,
    summary: 'List the built-in workflows with their flows',
    permission: mayFollow,
    schema: {
      response: { 200: Type.Object({ templates: Type.Array(templateAnswer) }) },
    },
  },
  instantiateTemplate: {
    method: 'POST',
    url: `${path}/templates/:id/instantiate`,
    summary: 'Make a workflow of your own from a template',
    permission: mayCreate,
    schema: {
      params,
      body: Type.Object({ name: Type.Optional(labels.name) }),
      response: { 201: workflowAnswer },
    },
  },
  validateFlow: {
    method: 'POST',
    url: `${path}/validate`,
    summary: 'Say everything that is wrong with a flow',
    permission: mayRead,
    bodyBytesMax,
    schema: { body: Type.Object({ flow }), response: validity },
  },
  createWorkflow: {
    method: 'POST',
    url: path,
    summary: 'Make a workflow',
    description:
      'Published at once as version 1, unless `status` is `draft`. A flow that does not hold is refused with all its faults in `details.faults`.',
    permission: mayCreate,
    bodyBytesMax,
    schema: {
      body: Type.Object({
        ...labels,
        description: Type.Optional(labels.description),
        category: Type.Optional(labels.category),
        tags: Type.Optional(labels.tags),
        flow,
        status: Type.Optional(Type.Enum(['active', 'draft'], { default: 'active' })),
      }),
      response: { 201: workflowAnswer },
    },
  },
  listWorkflows: {
    method: 'GET',
    url: path,
    summary: 'List workflows, the newest first',
    description: 'Without a `status` those that are archived are left out.',
    permission: mayRead,
    schema: {
      query: Type.Object({
        ...search,
        owner: Type.Optional(line(256, 'a subject, or `me`')),
        status: Type.Optional(status),
        ...pageQuery(),
      }),
      response: { 200: Type.Object({ workflows: Type.Array(workflowAnswer), ...pageAnswer }) },
    },
  },
  readWorkflow: {
    method: 'GET',
    url: `${path}/:id`,
    summary: 'Read a workflow with its flow',
    description: 'The published version unless told; of a draft the newest.',
    permission: mayRead,
    schema: {
      params,
      query: Type.Object({
        version: Type.Optional({ ...version, description: 'which one is to be read' }),
      }),
      response: { 200: workflowWithFlow },
    },
  },
  changeWorkflow: {
    method: 'PUT',
    url: `${path}/:id`,
    summary: 'Change a workflow',
    description:
      'What is given replaces what was. A new flow becomes a new version, which new executions run, or with `publish: false` a draft; running executions keep their version. With `If-Match` (the `ETag` of an answer) or `expectedVersion` (its `latestVersion`) it is refused with 409 when somebody else was faster.',
    permission: mayCreate,
    bodyBytesMax,
    schema: {
      params,
      body: Type.Object({
        name: Type.Optional(labels.name),
        description: Type.Optional(labels.description),
        category: Type.Optional(labels.category),
        tags: Type.Optional(labels.tags),
        flow: Type.Optional(flow),
        publish: Type.Optional(Type.Boolean({ default: true })),
        expectedVersion: Type.Optional(version),
      }),
      response: { 200: workflowAnswer },
    },
  },
  archiveWorkflow: {
    method: 'DELETE',
    url: `${path}/:id`,
    summary: 'Archive a workflow',
    description:
      'It takes no new executions; those that run go on, and those that ran stay. Publishing it makes it active again.',
    permission: mayCreate,
    schema: { params, response: { 200: workflowAnswer } },
  },
  publishWorkflow: {
    method: 'POST',
    url: `${path}/:id/publish`,
    summary: 'Have new executions run a version, the newest unless told',
    permission: mayCreate,
    schema: {
      params,
      body: Type.Object({ version: Type.Optional(version) }),
      response: { 200: workflowAnswer },
    },
  },
  rollBackWorkflow: {
    method: 'POST',
    url: `${path}/:id/rollback`,
    summary: 'Have new executions run a version again that was published before',
    permission: mayCreate,
    schema: { params, body: Type.Object({ version }), response: { 200: workflowAnswer } },
  },
  listVersions: {
    method: 'GET',
    url: `${path}/:id/versions`,
    summary: 'List the versions of a workflow, the newest first',
    permission: mayRead,
    schema: {
      params,
      query: Type.Object(pageQuery()),
      response: { 200: Type.Object({ versions: Type.Array(versionAnswer), ...pageAnswer }) },
    },
  },
  diffVersions: {
    method: 'GET',
    url: `${path}/:id/versions/diff`,
    summary: 'Say what changed from one version to another',
    permission: mayRead,
    schema: {
      params,
      query: Type.Object({
        from: { ...version, description: 'the version that is the basis' },
        to: { ...version, description: 'the version that is held against it' },
      }),
      response: { 200: diffAnswer },
    },
  },
  validateWorkflow: {
    method: 'POST',
    url: `${path}/:id/validate`,
    summary: 'Say everything that is wrong with a stored flow, the newest unless told',
    permission: mayRead,
    schema: {
      params,
      body: Type.Object({ version: Type.Optional(version) }),
      response: validity,
    },
  },
  readWorkflowSecret: {
    method: 'GET',
    url: `${path}/:id/secret`,
    summary: 'Read what the callbacks of your workflow are signed with',
    permission: mayCreate,
    schema: {
      params,
      response: { 200: Type.Object({ workflowId: Type.String(), secret: Type.String() }) },
    },
  },
} as const satisfies Record<string, Route>;
