import type { IncomingHttpHeaders } from 'node:http';
import { Fault } from '../../kit/errors.ts';
import type { Handler } from '../../kit/http/call.ts';
import type { Identity } from '../../kit/identity/identity.ts';
import type { AppliedChange, FileRecord, WantedChange, WorkspaceFiles } from '../files/file.ts';
import { announcedBytes, answerBytes } from './bytes.ts';
import type { fileRoutes as routes } from '../schemas/files.ts';
import { apiDevice } from '../files/own-devices.ts';
import type { Devices } from '../sync/devices.ts';
import type { Permission, Workspaces } from '../workspaces/workspace.ts';

type Handlers = { readonly [K in keyof typeof routes]: Handler<(typeof routes)[K]> };
interface AnyCall {
  readonly identity: Identity;
  readonly params: { readonly id: string };
}

export interface FileHandlerParts {
  readonly workspaces: Pick<Workspaces, 'require'>;
  readonly files: Pick<
    WorkspaceFiles,
    'list' | 'find' | 'read' | 'apply' | 'versions' | 'usage' | 'lastSeq' | 'requireSize'
  >;
  readonly devices: Pick<Devices, 'claim'>;
}

/** Of those who do not say. */
const versionsMax = 1_000;

/** The edge of files. */
export function fileHandlers({ workspaces, files, devices }: FileHandlerParts): Handlers {
  const require = async ({ identity, params }: AnyCall, permission: Permission) => {
    const { id } = await workspaces.require(identity, params.id, permission);
    return id;
  };
  /** Whose hand it is; a device of somebody else cannot be said. */
  const deviceOf = async ({ identity, params }: AnyCall, device: string | undefined) => {
    if (device === undefined || device === apiDevice) return apiDevice;
    await devices.claim({ workspaceId: params.id, deviceId: device, userId: identity.subject });
    return device;
  };
  return {
    listFiles: async (call) => {
      const id = await require(call, 'code:read');
      const { prefix = '', after = '', limit } = call.query;
      const found = await page(files, id, { prefix, after, limit });
      return { ...found, usedBytes: await files.usage(id) };
    },
    readFile: async (call) => {
      const id = await require(call, 'code:read');
      const path = call.params['*'];
      const { version, versions } = call.query;
      if (versions !== undefined) return listVersions(files, id, path);
      return answerBytes(
        call.headers,
        await files.read(id, path, version ? { hash: version } : {}),
      );
    },
    writeFile: async (call) => {
      const id = await require(call, 'code:edit');
      const { executable, device } = call.query;
      const deviceId = await deviceOf(call, device);
      const path = call.params['*'];
      await files.requireSize(id, announcedBytes(call.headers));
      const applied = await files.apply(id, {
        ...(await baseFor(files, { id, path, headers: call.headers })),
        deviceId,
        path,
        content: call.stream,
        ...(executable === undefined ? {} : { isExecutable: executable }),
      });
      if (applied.isCreated) call.setStatus(201);
      return shownChange(applied);
    },
    changeFile: async (call) => {
      const id = await require(call, 'code:edit');
      const { device, ...wanted } = call.body;
      const deviceId = await deviceOf(call, device);
      return shownChange(await change(files, id, { ...wanted, path: call.params['*'], deviceId }));
    },
    deleteFile: async (call) => {
      const id = await require(call, 'code:edit');
      const path = call.params['*'];
      if (!(await files.find(id, path))) throw fileNotFound(path);
      const base = await baseFor(files, { id, path, headers: call.headers });
      const deviceId = await deviceOf(call, call.query.device);
      return shownChange(await files.apply(id, { ...base, deviceId, path }));
    },
  };
}

interface Wanted {
  readonly path: string;
  readonly operation: 'move' | 'copy' | 'restore';
  readonly to?: string;
  readonly version?: string;
  readonly deviceId: string;
}

async function change(
  files: FileHandlerParts['files'],
  id: string,
  { path, operation, to, version, deviceId }: Wanted,
): Promise<AppliedChange> {
  if (operation === 'restore') {
    if (version === undefined) throw missing('version');
    const { record } = await files.read(id, path, { hash: version });
    const { isExecutable } = record;
    return files.apply(id, { deviceId, path, content: { kept: version }, isExecutable });
  }
  if (to === undefined) throw missing('to');
  const { record } = await files.read(id, path, version ? { hash: version } : {});
  const { hash, isExecutable } = record;
  if (to === path || (await files.find(id, to))) throw taken(to);
  const wanted = {
    deviceId,
    path: to,
    baseHash: null,
    isStrict: true,
    content: { kept: hash },
    isExecutable,
    ...(operation === 'move' ? { movedFrom: record.path } : {}),
  };
  try {
    return await files.apply(id, wanted);
  } catch (error) {
    // Somebody was there first: what was to be moved is where it was.
    throw Fault.from(error).reason === 'precondition_failed' ? taken(to) : error;
  }
}

async function page(
  files: FileHandlerParts['files'],
  id: string,
  asked: { readonly prefix: string; readonly after: string; readonly limit: number },
) {
  const found = await files.list(id, asked);
  const last = found.length === asked.limit ? found.at(-1) : undefined;
  return { files: found.map(shown), ...(last ? { next: last.path } : {}) };
}

async function listVersions(files: FileHandlerParts['files'], id: string, path: string) {
  const found = await files.versions(id, path, versionsMax);
  if (found.length === 0) throw fileNotFound(path);
  const versions = found.map(({ atMs, ...one }) => ({ ...one, at: new Date(atMs).toISOString() }));
  return { versions };
}

/** Whether a list of entity tags, or `*`, names what is there (RFC 9110, section 13.1); null: nothing is. */
function isNamed(tags: string, hash: string | null): boolean {
  if (hash === null) return false;
  if (tags.trim() === '*') return true;
  return tags.split(',').some((tag) => tag.trim().replace(/^W\//, '').replaceAll('"', '') === hash);
}

/** What the change rests on; refused at once, before the body is read, where that is not there. */
async function baseFor(
  files: FileHandlerParts['files'],
  { headers, ...at }: { id: string; path: string; headers: IncomingHttpHeaders },
): Promise<Pick<WantedChange, 'baseHash' | 'isStrict'>> {
  const { 'if-match': match, 'if-none-match': none } = headers;
  if (match === undefined && none === undefined) return {};
  const { id, path } = at;
  const hash = (await files.find(id, path))?.hash ?? null;
  const isMet =
    (match === undefined || isNamed(match, hash)) && (none === undefined || !isNamed(none, hash));
  if (isMet) return { baseHash: hash, isStrict: true };
  throw new Fault('conflict', 'the file has changed since', {
    reason: 'precondition_failed',
    status: 412,
    detail: { path, hash },
  });
}

function shown({ isExecutable, modifiedAtMs, ...record }: FileRecord) {
  return {
    ...record,
    executable: isExecutable,
    modifiedAt: new Date(modifiedAtMs).toISOString(),
  };
}

function shownChange({ outcome, seq, record, conflictCopy }: AppliedChange) {
  return {
    outcome,
    seq,
    ...(record ? { file: shown(record) } : {}),
    ...(conflictCopy ? { conflictCopy: shown(conflictCopy) } : {}),
  };
}

function missing(field: string): Fault {
  return new Fault('invalid', `body.${field} is needed for this`, { reason: 'validation_error' });
}

function taken(path: string): Fault {
  return new Fault('conflict', `${path} is there already`, {
    reason: 'path_taken',
    detail: { path },
  });
}

function fileNotFound(path: string): Fault {
  return new Fault('not_found', 'there is no such file', {
    reason: 'file_not_found',
    detail: { path },
  });
}
