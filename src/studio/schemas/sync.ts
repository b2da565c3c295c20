import { Type } from 'typebox';
import type { Route, SocketRoute } from '../../kit/contract.ts';
import { workspaceId } from './ids.ts';

const deviceId = Type.String({
  pattern: '^[A-Za-z0-9._:-]{1,64}$',
  description: 'what the device calls itself; its own changes are not told to it',
});
const seq = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const timestamp = Type.String({ format: 'date-time' });
const hash = Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 in hex' });

const status = Type.Object(
  {
    workspaceId: Type.String(),
    lastSeq: Type.Integer({ description: 'of the newest change' }),
    usedBytes: Type.Integer(),
    devices: Type.Array(
      Type.Object({
        deviceId: Type.String(),
        userId: Type.String(),
        connected: Type.Boolean({ description: 'to the process that answers' }),
        lastSeq: Type.Integer({ description: 'the newest change that it has acknowledged' }),
        pending: Type.Integer({ description: 'changes that it has not' }),
        lastSeenAt: timestamp,
      }),
    ),
  },
  { $id: 'SyncStatus' },
);

const forced = Type.Object(
  {
    workspaceId: Type.String(),
    changed: Type.Integer({ description: 'files that were found changed in the folder' }),
    files: Type.Integer(),
    lastSeq: Type.Integer(),
  },
  { $id: 'ForcedSync' },
);

/** What a batch of changes may hold as a whole; what does not fit is sent as blobs before. */
export const batchBytesMax = 16 * 1024 * 1024;
/** Changes in a batch, hashes in a question. */
export const batchItemsMax = 1_000;
/** What an answer with contents holds at most. */
export const contentsBytesMax = 8 * 1024 * 1024;

const wantedChange = Type.Object(
  {
    path: Type.String({ maxLength: 8_192 }),
    operation: Type.Enum(['create', 'update', 'delete']),
    baseHash: Type.Optional(
      Type.Union([hash, Type.Null()], {
        description: 'what was changed; null for a new file; whatever is there when absent',
      }),
    ),
    hash: Type.Optional(
      Type.String({ ...hash, description: 'of the content; alone it names what was sent before' }),
    ),
    content: Type.Optional(Type.String()),
    encoding: Type.Optional(Type.Enum(['utf8', 'base64'], { description: '`utf8` when absent' })),
    executable: Type.Optional(Type.Boolean()),
    opId: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 128,
        description: 'the same one of a device is done once',
      }),
    ),
    strict: Type.Optional(
      Type.Boolean({ description: 'a mismatch is `refused`, and leaves no conflict copy' }),
    ),
  },
  { $id: 'WantedChange' },
);

const syncedFile = Type.Object(
  {
    path: Type.String(),
    hash,
    size: Type.Integer({ description: 'bytes' }),
    executable: Type.Boolean(),
    seq: Type.Integer({ description: 'of the change that made it so' }),
  },
  { $id: 'SyncedFile' },
);

const changeResult = Type.Object(
  {
    path: Type.String(),
    opId: Type.Optional(Type.String()),
    outcome: Type.Enum(['applied', 'unchanged', 'conflict', 'missing', 'refused'], {
      description:
        '`conflict`: what was there keeps the path; `missing`: send the content as a blob, then again',
    }),
    seq: Type.Optional(Type.Integer()),
    file: Type.Optional(syncedFile),
    conflictCopy: Type.Optional(syncedFile),
    error: Type.Optional(
      Type.Object({
        code: Type.String(),
        message: Type.String(),
        details: Type.Object({}, { additionalProperties: true }),
      }),
    ),
  },
  { $id: 'SyncedChange' },
);

const workspaceQuery = Type.Object({ workspaceId });
const someWorkspace = Type.Optional({ ...workspaceId, description: 'your newest 100 if absent' });
const blob = Type.Object({ hash, size: Type.Integer() }, { $id: 'Blob' });
const blobUrl = '/api/v1/sync/blobs/:hash';

/** The routes of synchronisation. */
export const syncRoutes = {
  syncChanges: {
    method: 'POST',
    url: '/api/v1/sync/changes',
    summary: 'Send many changes of a device at once',
    description:
      'Each has its own outcome, in order; those that are applied are on the disk and in the log before the answer. Small contents come along, others are named by `hash` and sent as blobs before.',
    bodyBytesMax: batchBytesMax,
    schema: {
      body: Type.Object({
        workspaceId,
        deviceId,
        changes: Type.Array(wantedChange, { minItems: 1, maxItems: batchItemsMax }),
      }),
      response: {
        200: Type.Object({
          results: Type.Array(changeResult),
          missing: Type.Array(hash, { description: 'contents that the workspace does not have' }),
          lastSeq: Type.Integer(),
        }),
      },
    },
  },
  writeBlob: {
    method: 'PUT',
    url: blobUrl,
    summary: 'Send a content before the change that names it',
    description:
      'The body is the content, of any media type; it is kept for a day. Sending it again does nothing: 200 instead of 201, before the body is read. What breaks off leaves nothing.',
    streamsBody: true,
    schema: {
      params: Type.Object({ hash }),
      query: workspaceQuery,
      response: { 200: blob, 201: blob },
    },
  },
  readBlob: {
    method: 'GET',
    url: blobUrl,
    summary: 'Read a content of a workspace by its hash',
    description: 'What a file of it is or was, or what was sent to it. One range is served.',
    schema: {
      params: Type.Object({ hash }),
      query: workspaceQuery,
      response: { 200: Type.Unknown() },
    },
  },
  readContents: {
    method: 'POST',
    url: '/api/v1/sync/contents',
    summary: 'Read many small contents of a workspace by their hashes',
    schema: {
      body: Type.Object({
        workspaceId,
        hashes: Type.Array(hash, { minItems: 1, maxItems: batchItemsMax }),
      }),
      response: {
        200: Type.Object({
          contents: Type.Array(
            Type.Object({
              hash,
              content: Type.String(),
              encoding: Type.Enum(['utf8', 'base64']),
            }),
          ),
          missing: Type.Array(hash, { description: 'contents that the workspace does not have' }),
          left: Type.Array(hash, {
            description: 'beyond 8 MiB: ask again, or read those over 256 KiB as blobs',
          }),
        }),
      },
    },
  },
  readSnapshot: {
    method: 'GET',
    url: '/api/v1/sync/snapshot',
    summary: 'List what all paths of a workspace hold',
    description:
      'Pages by path. Changes behind the `lastSeq` of the first page tell of all that happened since it was read.',
    schema: {
      query: Type.Object({
        workspaceId,
        after: Type.Optional(
          Type.String({ maxLength: 4_096, description: 'the last path of the page before' }),
        ),
        limit: Type.Integer({
          minimum: 1,
          maximum: 5_000,
          default: 1_000,
          description: 'at most so many files',
        }),
      }),
      response: {
        200: Type.Object({
          files: Type.Array(syncedFile),
          next: Type.Optional(Type.String({ description: '`after` of the next page' })),
          lastSeq: Type.Integer(),
        }),
      },
    },
  },
  syncStatus: {
    method: 'GET',
    url: '/api/v1/sync/status',
    summary: 'Say how far the devices of a workspace have come',
    schema: {
      query: Type.Object({
        workspaceId: someWorkspace,
      }),
      response: { 200: Type.Object({ workspaces: Type.Array(status) }) },
    },
  },
  forceSync: {
    method: 'POST',
    url: '/api/v1/sync/force',
    summary: 'Read the folder of a workspace again, and tell of what has changed in it',
    schema: {
      body: Type.Object({
        workspaceId: someWorkspace,
      }),
      response: { 200: Type.Object({ workspaces: Type.Array(forced) }) },
    },
  },
} as const satisfies Readonly<Record<string, Route>>;

/** Begins, or begins anew. */
export const subscribeMessage = Type.Object({
  action: Type.Literal('subscribe'),
  workspaceId,
  deviceId: Type.Optional(deviceId),
  lastSeq: Type.Optional(Type.Integer({ ...seq, description: 'the newest change when absent' })),
  after: Type.Optional(Type.Integer({ ...seq, description: '`lastSeq` by its name elsewhere' })),
  ack: Type.Optional(Type.Boolean({ description: 'asks for `{type: "subscribed", seq}`' })),
});

/** All changes up to this one are on the device. */
export const ackMessage = Type.Object({ action: Type.Literal('ack'), seq });

/** A change of the device's own. */
export const changeMessage = Type.Object({
  action: Type.Literal('change'),
  opId: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  path: Type.String({ maxLength: 8_192 }),
  operation: Type.Enum(['create', 'update', 'delete']),
  baseHash: Type.Optional(
    Type.Union([hash, Type.Null()], {
      description: 'what was changed; null for a new file; whatever is there when absent',
    }),
  ),
  hash: Type.Optional(hash),
  content: Type.Optional(Type.String({ maxLength: 700_000 })),
  encoding: Type.Optional(Type.Enum(['utf8', 'base64'])),
  executable: Type.Optional(Type.Boolean()),
});

const event = Type.Object(
  {
    type: Type.String({
      description:
        '`file_change`, `state_update`, `session_change`, `agent_status`, `task_complete`; `snapshot_required` when changes since `lastSeq` are no longer kept; `applied`, `conflict` for a change of one’s own',
    }),
    workspaceId: Type.Optional(Type.String()),
    deviceId: Type.Optional(
      Type.String({
        description: 'whose doing it is; `api`: over HTTP, `disk`: in the folder itself',
      }),
    ),
    seq: Type.Optional(Type.Integer({ description: 'of a file change: what to go on from' })),
    timestamp: Type.Number({ description: 'Unix milliseconds' }),
    data: Type.Object({}, { additionalProperties: true }),
  },
  { $id: 'SyncEvent' },
);

/** The stream of synchronisation. */
export const syncSockets = {
  syncStream: {
    url: '/api/v1/sync/stream',
    summary: 'Follow a workspace, and send changes',
    subscribe: subscribeMessage,
    event,
  },
} as const satisfies Readonly<Record<string, SocketRoute>>;
