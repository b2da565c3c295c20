import { Type } from 'typebox';
import type { Route } from '../../kit/contract.ts';
import { connectionTypes, protocols } from '../connections/connection.ts';
import { syncModes } from '../exchange/cms/sync-result.ts';
import { exportFormats } from '../exchange/export-formats.ts';
import { importFormats } from '../exchange/import-documents.ts';
import { AnyKey } from '../../kit/any-key.ts';
import { pageAnswer, pageQuery } from '../../kit/paging.ts';

const write = 'registry:write';

const json = Type.Record(AnyKey, Type.Unknown());
const address = Type.String({
  maxLength: 2048,
  pattern: '^[Hh][Tt][Tt][Pp][Ss]?://',
  description: 'an http or https address',
});

const syncRequest = Type.Object(
  {
    cmsEndpoint: Type.Union([address], { description: 'on the operator’s list' }),
    apiKey: Type.String({
      minLength: 1,
      maxLength: 4096,
      pattern: '^[\\u0021-\\u007e]+$',
      description: 'a key without spaces; it goes to the CMS and is neither stored nor answered',
    }),
    syncMode: Type.Enum(syncModes, { default: 'bidirectional' }),
    dryRun: Type.Boolean({ default: false, description: 'only say what would be done' }),
    allowMassRemoval: Type.Boolean({
      default: false,
      description:
        'believe a CMS that lists less than half of what it had: the rest counts as removed there',
    }),
    restoreRemoved: Type.Boolean({
      default: false,
      description:
        'make anew at the CMS what it no longer lists, in place of taking it for removed; for `bidirectional` and `push`',
    }),
  },
  { $id: 'CmsSyncRequest' },
);

const syncConflict = Type.Object({
  name: Type.String(),
  connectionId: Type.String(),
  recordId: Type.String(),
  field: Type.String({ description: '`presence` when one side removed what the other changed' }),
  owner: Type.String({ description: '`registry` or `cms`: whose word counts for the field' }),
  resolution: Type.String({
    description:
      '`kept`: both sides changed and keep what they have; `owner`: the other side’s change gave way',
  }),
  registry: Type.Optional(Type.Unknown()),
  cms: Type.Optional(Type.Unknown()),
});

const syncError = Type.Object({
  stage: Type.String({
    description: '`list`, `create`, `update`, `remove`, `bundles` or `health`',
  }),
  side: Type.String({ description: 'where it was to be done: `registry` or `cms`' }),
  name: Type.Optional(Type.String()),
  code: Type.String(),
  message: Type.String(),
});

const syncChange = Type.Object({
  action: Type.String({ description: '`create`, `link`, `update` or `remove`' }),
  side: Type.String({ description: '`registry`, `cms` or, for `link`, `both`' }),
  name: Type.String(),
  connectionId: Type.Optional(Type.String()),
  recordId: Type.Optional(Type.String()),
  fields: Type.Optional(Type.Array(Type.String())),
});

const syncAnswer = Type.Object(
  {
    syncId: Type.String(),
    direction: Type.String(),
    created: Type.Integer({ description: 'on either side; so are the next two' }),
    updated: Type.Integer(),
    removed: Type.Integer(),
    conflicts: Type.Array(syncConflict),
    errors: Type.Array(syncError),
    changes: Type.Array(syncChange, { description: 'the first 1,000' }),
    dryRun: Type.Boolean(),
  },
  { $id: 'CmsSync' },
);

const pastSync = Type.Object({
  syncId: Type.String(),
  cmsEndpoint: Type.String(),
  direction: Type.String(),
  dryRun: Type.Boolean(),
  status: Type.String({ description: '`running`, `done` or `failed`' }),
  startedBy: Type.String(),
  startedAt: Type.String(),
  endedAt: Type.Union([Type.String(), Type.Null()]),
  created: Type.Integer(),
  updated: Type.Integer(),
  removed: Type.Integer(),
  conflicts: Type.Integer(),
  errors: Type.Integer(),
});

const inputs = Type.Record(AnyKey, Type.String({ maxLength: 8192 }), {
  description: 'values for what the document asks for, by the names in `needs`',
  maxProperties: 200,
});

const importOptions = {
  dryRun: Type.Boolean({ default: false, description: 'only say what would be imported' }),
  prefix: Type.Optional(
    Type.String({
      maxLength: 32,
      pattern: '^[A-Za-z0-9](?:[A-Za-z0-9_.-]*)$',
      description: 'letters, digits or any of `_ . -`; it is put before every name',
    }),
  ),
  inputs: Type.Optional(inputs),
};

const importRequest = Type.Object(
  {
    format: Type.Optional(
      Type.Enum(importFormats, { description: 'recognised by its shape when absent' }),
    ),
    document: Type.Union([json, Type.Array(json, { maxItems: 1_000 }), Type.String()], {
      description: 'the file’s content, as JSON or as its text',
    }),
    ...importOptions,
  },
  { $id: 'ImportRequest' },
);

const registryImport = Type.Object(
  {
    url: Type.Union([address], {
      default: 'https://registry.modelcontextprotocol.io',
      description: 'a registry with the official read API, v0.1',
    }),
    search: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    limit: Type.Integer({ minimum: 1, maximum: 200, default: 20 }),
    ...importOptions,
  },
  { $id: 'RegistryImportRequest' },
);

const importAnswer = Type.Object(
  {
    format: Type.String(),
    imported: Type.Array(
      Type.Object({
        name: Type.String(),
        id: Type.Optional(Type.String({ description: 'absent in a dry run' })),
        protocol: Type.String(),
        needs: Type.Array(Type.String(), {
          description: 'headers and variables that were left out because no value was given',
        }),
        unknown: Type.Optional(
          Type.Array(Type.String(), {
            description:
              'what of the entry was passed over, such as an `auth` block: its client is named at `…/authorize`',
          }),
        ),
      }),
    ),
    skipped: Type.Array(
      Type.Object({
        name: Type.String(),
        reason: Type.String({
          description:
            '`already_registered`, `name_taken`, `input_needed`, `disabled`, `unsupported`, or `ambiguous`: a command and an address without a `type`',
        }),
        needs: Type.Optional(Type.Array(Type.String())),
        unknown: Type.Optional(
          Type.Array(Type.String(), {
            description:
              'of `unsupported`: what of the entry the registry cannot do (`cwd`, `envFile`); of `ambiguous`: what contradicts itself',
          }),
        ),
      }),
    ),
    errors: Type.Array(
      Type.Object({ name: Type.String(), code: Type.String(), message: Type.String() }),
    ),
    dryRun: Type.Boolean(),
  },
  { $id: 'ImportAnswer' },
);

const exportAnswer = Type.Object(
  {
    version: Type.String(),
    exportedAt: Type.String(),
    connections: Type.Array(
      Type.Object({
        name: Type.String(),
        type: Type.Enum(connectionTypes),
        protocol: Type.Enum(protocols),
        endpoint: Type.Record(AnyKey, Type.Unknown()),
        capabilities: Type.Array(Type.String()),
        declared: Type.Optional(Type.Array(json)),
        metadata: Type.Optional(json),
        healthCheck: Type.Optional(json),
        needs: Type.Optional(
          Type.Array(Type.String(), { description: 'secrets that were left out, by name' }),
        ),
      }),
    ),
    totalExported: Type.Integer(),
  },
  { $id: 'RegistryExport' },
);

/** The routes that take connections in from elsewhere and give them away. */
export const exchangeRoutes = {
  syncCms: {
    method: 'POST',
    url: '/cms/sync',
    summary: 'Make the connections and a content-management system alike',
    description:
      'The address must be on the list of `REGISTRY_CMS_ALLOW`. The CMS owns descriptions and metadata, the registry all else: the owner’s value goes to the other side. What changed on both sides since they were last equal is a conflict, and stays as it is on both. A second sync without changes changes nothing. What fails is listed in `errors`, the rest is done. One at a time for each CMS: 409 `sync_running`.',
    permission: write,
    schema: { body: syncRequest, response: { 200: syncAnswer } },
  },
  listCmsSyncs: {
    method: 'GET',
    url: '/cms/syncs',
    summary: 'List past syncs, the newest first',
    schema: {
      query: Type.Object(pageQuery()),
      response: {
        200: Type.Object({
          syncs: Type.Array(pastSync),
          ...pageAnswer,
        }),
      },
    },
  },
  importConnections: {
    method: 'POST',
    url: '/registry/import',
    summary: 'Register what a configuration file lists',
    description:
      'Takes the files of Claude, Cursor and VS Code, `server.json` of the official registry, and our own export. Commands come under the operator’s allow-list like all. Placeholders are filled from `inputs` and never from the registry’s own environment.',
    permission: write,
    schema: { body: importRequest, response: { 200: importAnswer } },
  },
  importFromRegistry: {
    method: 'POST',
    url: '/registry/import-registry',
    summary: 'Register servers of an official registry of MCP servers',
    description: 'Asks `GET /v0.1/servers` for the latest versions.',
    permission: write,
    schema: { body: registryImport, response: { 200: importAnswer } },
  },
  exportConnections: {
    method: 'GET',
    url: '/registry/export',
    summary: 'Export the connections, without secrets',
    description:
      'Without `format` as the registry itself imports it. `claude`, `cursor`, `mcp.json` and `vscode` are the files of those clients: servers only, secrets as placeholders; `unsupported` WebSocket servers are left out. With `via=registry` the one server is this registry’s `/mcp`.',
    schema: {
      query: Type.Object({
        format: Type.Optional(
          Type.Enum(exportFormats, { description: 'whose configuration file it is to be' }),
        ),
        via: Type.Optional(
          Type.Enum(['registry'], {
            description: '`registry`: one entry, which is this registry’s `/mcp`',
          }),
        ),
      }),
      response: { 200: exportAnswer },
    },
  },
} as const satisfies Record<string, Route>;
