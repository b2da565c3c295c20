import { Type } from 'typebox';
import type { Route } from '../../kit/contract.ts';
import { workspaceId } from './ids.ts';

const folder = '/api/v1/workspaces/:id/files';
const url = `${folder}/*`;
const path = Type.String({ description: 'relative, with `/` between its parts' });
const hash = Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 in hex' });
const timestamp = Type.String({ format: 'date-time' });

const file = Type.Object(
  {
    path,
    hash,
    size: Type.Integer({ description: 'bytes' }),
    executable: Type.Boolean(),
    seq: Type.Integer({ description: 'of the change that made it so' }),
    modifiedAt: timestamp,
  },
  { $id: 'File' },
);

const version = Type.Object(
  {
    seq: Type.Integer(),
    hash,
    size: Type.Integer(),
    deviceId: Type.String({ description: 'whose hand it was; `disk`: in the folder itself' }),
    at: timestamp,
  },
  { $id: 'FileVersion' },
);

const applied = Type.Object(
  {
    outcome: Type.Enum(['applied', 'unchanged', 'conflict'], {
      description: '`conflict`: what was there keeps the path',
    }),
    seq: Type.Integer(),
    file: Type.Optional(file),
    conflictCopy: Type.Optional(file),
  },
  { $id: 'AppliedFile' },
);

const one = Type.Object({ id: workspaceId, '*': path });
const device = Type.Optional(
  Type.String({
    pattern: '^[A-Za-z0-9._:-]{1,64}$',
    description: 'whose hand it is; `api` when absent',
  }),
);

/** The routes of files. */
export const fileRoutes = {
  listFiles: {
    method: 'GET',
    url: folder,
    summary: 'List the files of a workspace by path',
    schema: {
      params: Type.Object({ id: workspaceId }),
      query: Type.Object({
        prefix: Type.Optional(
          Type.String({ maxLength: 4_096, description: 'only paths that begin so' }),
        ),
        limit: Type.Integer({
          minimum: 1,
          maximum: 1_000,
          default: 100,
          description: 'at most so many files',
        }),
        after: Type.Optional(
          Type.String({ maxLength: 4_096, description: 'the last path of the page before' }),
        ),
      }),
      response: {
        200: Type.Object({
          files: Type.Array(file),
          next: Type.Optional(Type.String({ description: '`after` of the next page' })),
          usedBytes: Type.Integer({ description: 'what all files take' }),
        }),
      },
    },
  },
  readFile: {
    method: 'GET',
    url,
    summary: 'Read a file, or list its versions',
    description:
      'Answers its bytes with the hash as `ETag`; one range is served. `version` reads what it held before, `versions=1` lists what can be read so, the newest first.',
    schema: {
      params: one,
      query: Type.Object({
        version: Type.Optional(hash),
        versions: Type.Optional(
          Type.Enum(['1', 'true'], { description: 'list what can be read by `version`' }),
        ),
      }),
      response: { 200: Type.Object({ versions: Type.Array(version) }, { $id: 'FileVersions' }) },
    },
  },
  writeFile: {
    method: 'PUT',
    url,
    summary: 'Write a file',
    description:
      'The body is the content, of any media type. `If-Match` with the hash that was changed, or `If-None-Match: *` for a new file, keeps what others wrote: a mismatch is answered 412 with what is there. 201 for a new file. It is read as it comes, up to `STUDIO_FILE_BYTES_MAX`; of one that breaks off nothing stays.',
    streamsBody: true,
    schema: {
      params: one,
      query: Type.Object({
        device,
        executable: Type.Optional(
          Type.Boolean({ description: 'whether it may be run; as it was when absent' }),
        ),
      }),
      response: { 200: applied, 201: applied },
    },
  },
  changeFile: {
    method: 'POST',
    url,
    summary: 'Move, copy or restore a file',
    schema: {
      params: one,
      body: Type.Object({
        operation: Type.Enum(['move', 'copy', 'restore']),
        to: Type.Optional(
          Type.String({ minLength: 1, maxLength: 4_096, description: 'of `move` and `copy`' }),
        ),
        version: Type.Optional(hash),
        device,
      }),
      response: { 200: applied },
    },
  },
  deleteFile: {
    method: 'DELETE',
    url,
    summary: 'Delete a file; its versions stay',
    schema: {
      params: one,
      query: Type.Object({ device }),
      response: { 200: applied },
    },
  },
} as const satisfies Readonly<Record<string, Route>>;
