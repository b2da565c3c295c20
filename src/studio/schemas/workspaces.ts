import { Type } from 'typebox';
import type { Route } from '../../kit/contract.ts';
import { pageAnswer, pageQuery } from '../../kit/paging.ts';
import { roles } from '../workspaces/roles.ts';
import { workspaceId } from './ids.ts';

const url = '/api/v1/workspaces';
const timestamp = Type.String({ format: 'date-time' });
const storable = '^[^\\u0000\\ud800-\\udfff]*$';
const name = Type.String({
  minLength: 1,
  maxLength: 128,
  pattern: '^\\s*[^\\s\\u0000\\ud800-\\udfff][^\\u0000\\ud800-\\udfff]*$',
  description: 'not blank',
});
const description = Type.String({ maxLength: 4_096, pattern: storable });
const bounded = (maxLength: number) => Type.String({ minLength: 1, maxLength, pattern: storable });

const member = Type.Object({ userId: bounded(128), role: Type.Enum(roles) });
const members = Type.Array(member, { maxItems: 1_000 });

const settings = Type.Object(
  {
    quotaBytes: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 2 ** 50, description: 'what all its files may take' }),
    ),
    testCommand: Type.Optional(
      Type.Array(bounded(4_096), {
        minItems: 1,
        maxItems: 64,
        description: 'what `test` tasks run in its folder: a program and its arguments',
      }),
    ),
    deployWorkflow: Type.Optional(
      Type.String({
        pattern: '^wfl_[0-9a-z]{1,64}$',
        description: 'the workflow that `deploy` tasks run',
      }),
    ),
    tools: Type.Optional(
      Type.Array(bounded(256), {
        maxItems: 256,
        description: 'tools of the registry that its agents may call, as `connection__tool`',
      }),
    ),
    model: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 256,
        pattern: storable,
        description: 'what its agents ask; the gateway’s choice when absent',
      }),
    ),
  },
  { additionalProperties: false },
);

const workspace = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    description: Type.Optional(Type.String()),
    ownerId: Type.String(),
    members: Type.Array(member),
    path: Type.String({ description: 'where its files lie on the service’s machine' }),
    createdAt: timestamp,
    updatedAt: timestamp,
    settings: Type.Optional({
      ...settings,
      description: 'only for roles that may see settings: Admin, Developer and Reviewer',
    }),
  },
  { $id: 'Workspace' },
);

const one = Type.Object({ id: workspaceId });

/** The routes of workspaces. */
export const workspaceRoutes = {
  createWorkspace: {
    method: 'POST',
    url,
    summary: 'Create a workspace with a folder of its own',
    description: 'Its owner is Admin of it and stays so.',
    schema: {
      body: Type.Object({
        name,
        description: Type.Optional(description),
        members: Type.Optional(members),
        settings: Type.Optional(settings),
      }),
      response: { 201: workspace },
    },
  },
  listWorkspaces: {
    method: 'GET',
    url,
    summary: 'List the workspaces of which you are a member, the newest first',
    schema: {
      query: Type.Object(pageQuery()),
      response: {
        200: Type.Object({
          workspaces: Type.Array(workspace),
          ...pageAnswer,
        }),
      },
    },
  },
  readWorkspace: {
    method: 'GET',
    url: `${url}/:id`,
    summary: 'Read a workspace',
    schema: { params: one, response: { 200: workspace } },
  },
  changeWorkspace: {
    method: 'PUT',
    url: `${url}/:id`,
    summary: 'Change a workspace',
    description:
      'What is left out stays. Name and description take `workspace:write`, settings `settings:edit`, members `settings:admin`; lists and settings are replaced as a whole.',
    schema: {
      params: one,
      body: Type.Object({
        name: Type.Optional(name),
        description: Type.Optional(description),
        members: Type.Optional(members),
        settings: Type.Optional(settings),
      }),
      response: { 200: workspace },
    },
  },
  deleteWorkspace: {
    method: 'DELETE',
    url: `${url}/:id`,
    summary: 'Delete a workspace with its agents, tasks and files',
    schema: {
      params: one,
      response: { 200: Type.Object({ id: Type.String(), deleted: Type.Literal(true) }) },
    },
  },
} as const satisfies Readonly<Record<string, Route>>;
