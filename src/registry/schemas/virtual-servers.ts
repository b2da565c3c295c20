import { Type } from 'typebox';
import type { Route } from '../../kit/contract.ts';
import { pageAnswer, pageQuery } from '../../kit/paging.ts';

const serverName = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'the name or the id of a connection',
});
const exposedName = Type.String({
  pattern: '^[A-Za-z0-9_.*-]{1,128}$',
  description:
    'letters, digits or any of `_ . * -`, the name here instead of `server__name`; a `*` stands for the own name',
});
const qualified = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}?__.{1,256}$',
  description: '`server__name`; `server__*` is all of a server',
});

const pickedTool = Type.Union([
  qualified,
  Type.Object({
    connection: serverName,
    tool: Type.String({ minLength: 1, maxLength: 256, description: '`*` is all' }),
    as: Type.Optional(exposedName),
  }),
]);
const pickedPrompt = Type.Union([
  qualified,
  Type.Object({
    connection: serverName,
    prompt: Type.String({ minLength: 1, maxLength: 256, description: '`*` is all' }),
    as: Type.Optional(exposedName),
  }),
]);
const pickedResource = Type.Union([
  Type.String({ minLength: 1, maxLength: 64, description: 'all resources of this server' }),
  Type.Object({
    connection: serverName,
    uri: Type.String({
      minLength: 1,
      maxLength: 2048,
      description: 'of a resource or a resource template; `*` is all',
    }),
  }),
]);

const fields = {
  name: Type.String({
    pattern: '^[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,62}[A-Za-z0-9])?$',
    description:
      'letters, digits and, inside, any of `_ . -`; unique, it is reached at `/mcp/<name>` and `/mcp/<id>`',
  }),
  description: Type.Optional(Type.String({ maxLength: 2000 })),
  tools: Type.Array(pickedTool, { maxItems: 1000 }),
  prompts: Type.Optional(Type.Array(pickedPrompt, { maxItems: 1000 })),
  resources: Type.Optional(Type.Array(pickedResource, { maxItems: 1000 })),
  lean: Type.Optional(
    Type.Boolean({ description: 'three tools to search, describe and call stand for all' }),
  ),
};

const virtualServer = Type.Object(
  {
    id: Type.String(),
    ...fields,
    description: Type.String(),
    prompts: Type.Array(pickedPrompt),
    resources: Type.Array(pickedResource),
    lean: Type.Boolean(),
    url: Type.String({ description: 'where it speaks MCP' }),
    offers: Type.Object(
      {
        tools: Type.Array(Type.String()),
        prompts: Type.Array(Type.String()),
        resources: Type.Array(Type.String()),
      },
      { description: 'what is reached now, under the names here' },
    ),
    missing: Type.Array(Type.String(), {
      description:
        'what was picked and is not reached now: no server offers it, or an earlier pick has its name here',
    }),
    createdBy: Type.String(),
    createdAt: Type.String(),
    updatedAt: Type.String(),
  },
  { $id: 'VirtualServer' },
);

const params = Type.Object({
  virtualServerId: Type.String({ pattern: '^[\\w.-]{1,64}$', description: 'its id or its name' }),
});
const permission = 'registry:write';

/** The routes of virtual servers. */
export const virtualServerRoutes = {
  createVirtualServer: {
    method: 'POST',
    url: '/virtual-servers',
    summary: 'Make a virtual server of a subset of what all servers offer',
    permission,
    schema: {
      body: Type.Object(fields, { $id: 'NewVirtualServer' }),
      response: { 201: virtualServer },
    },
  },
  listVirtualServers: {
    method: 'GET',
    url: '/virtual-servers',
    summary: 'List the virtual servers, the oldest first',
    schema: {
      query: Type.Object(pageQuery()),
      response: {
        200: Type.Object({
          virtualServers: Type.Array(virtualServer),
          ...pageAnswer,
        }),
      },
    },
  },
  readVirtualServer: {
    method: 'GET',
    url: '/virtual-servers/:virtualServerId',
    summary: 'Read a virtual server, by its id or its name',
    schema: { params, response: { 200: virtualServer } },
  },
  replaceVirtualServer: {
    method: 'PUT',
    url: '/virtual-servers/:virtualServerId',
    summary: 'Replace a virtual server',
    permission,
    schema: {
      params,
      body: Type.Object(fields, { $id: 'VirtualServerReplacement' }),
      response: { 200: virtualServer },
    },
  },
  deleteVirtualServer: {
    method: 'DELETE',
    url: '/virtual-servers/:virtualServerId',
    summary: 'Delete a virtual server; those who listen to it are ended',
    permission,
    schema: {
      params,
      response: { 200: Type.Object({ id: Type.String(), status: Type.Literal('deleted') }) },
    },
  },
} as const satisfies Record<string, Route>;
