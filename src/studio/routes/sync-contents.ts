import { buffer } from 'node:stream/consumers';
import type { Static } from 'typebox';
import { Fault } from '../../kit/errors.ts';
import type { Handler } from '../../kit/http/call.ts';
import { toContent } from '../sync/messages.ts';
import type {
  AppliedChange,
  FileRecord,
  KeptFile,
  WantedChange,
  WorkspaceFiles,
} from '../files/file.ts';
import { sideBySide } from '../files/side-by-side.ts';
import { contentsBytesMax, type syncRoutes } from '../schemas/sync.ts';
import type { SyncParts } from '../sync/sync-session.ts';
import { announcedBytes, answerBytes } from './bytes.ts';

type Routes = Pick<
  typeof syncRoutes,
  'syncChanges' | 'writeBlob' | 'readBlob' | 'readContents' | 'readSnapshot'
>;
type Handlers = { readonly [K in keyof Routes]: Handler<Routes[K]> };
type Sent = Static<Routes['syncChanges']['schema']['body']>['changes'][number];

const inlineBytesMax = 256 * 1024;
const atOnce = 16;

/** The edge of whole copies: many changes, many contents and long listings at once. */
export function contentHandlers({ workspaces, files, devices }: SyncParts): Handlers {
  return {
    syncChanges: async ({ identity, body: { workspaceId, deviceId, changes } }) => {
      await workspaces.require(identity, workspaceId, 'code:edit');
      await devices.claim({ workspaceId, deviceId, userId: identity.subject });
      const outcomes = await applyEach(
        files,
        workspaceId,
        changes.map((one) => toWanted(one, deviceId)),
      );
      const results = changes.map((one, index) => toResult(one, outcomes[index]));
      const missing = changes.filter((_, index) => results[index]?.outcome === 'missing');
      return {
        results,
        missing: [...new Set(missing.flatMap(({ hash }) => hash ?? []))],
        lastSeq: await files.lastSeq(workspaceId),
      };
    },
    writeBlob: async (call) => {
      const { workspaceId } = call.query;
      const { hash } = call.params;
      await workspaces.require(call.identity, workspaceId, 'code:edit');
      const known = (await files.kept(workspaceId, [hash])).get(hash);
      if (known) return { hash, size: known.size };
      await files.requireSize(workspaceId, announcedBytes(call.headers));
      const { size } = await files.keep(workspaceId, call.stream, hash);
      call.setStatus(201);
      return { hash, size };
    },
    readBlob: async ({ identity, headers, params: { hash }, query: { workspaceId } }) => {
      await workspaces.require(identity, workspaceId, 'code:read');
      const { size, open } = await files.readKept(workspaceId, hash);
      return answerBytes(headers, { record: { hash, size }, open });
    },
    readContents: async ({ identity, body: { workspaceId, hashes } }) => {
      await workspaces.require(identity, workspaceId, 'code:read');
      return readContents(files, workspaceId, hashes);
    },
    readSnapshot: async ({ identity, query: { workspaceId, after = '', limit } }) => {
      await workspaces.require(identity, workspaceId, 'code:read');
      // Before the files: what changes meanwhile comes behind it.
      const lastSeq = await files.lastSeq(workspaceId);
      const found = await files.list(workspaceId, { after, limit });
      const last = found.length === limit ? found.at(-1) : undefined;
      return { files: found.map(shown), ...(last ? { next: last.path } : {}), lastSeq };
    },
  };
}

/** What came of each; those that say too little are refused alone. */
async function applyEach(
  files: Pick<WorkspaceFiles, 'applyAll'>,
  workspaceId: string,
  changes: readonly (WantedChange | Fault)[],
): Promise<readonly (AppliedChange | Fault | undefined)[]> {
  const wanted = changes.filter((one): one is WantedChange => !(one instanceof Fault));
  const outcomes = (await files.applyAll(workspaceId, wanted)).values();
  return changes.map((one) => (one instanceof Fault ? one : outcomes.next().value));
}

async function readContents(
  files: Pick<WorkspaceFiles, 'kept'>,
  workspaceId: string,
  hashes: readonly string[],
) {
  const asked = [...new Set(hashes)];
  const kept = await files.kept(workspaceId, asked);
  let room = contentsBytesMax;
  const taken: { readonly hash: string; readonly file: KeptFile }[] = [];
  const left: string[] = [];
  for (const hash of asked) {
    const file = kept.get(hash);
    if (!file) continue;
    if (file.size > inlineBytesMax || file.size > room) {
      left.push(hash);
      continue;
    }
    room -= file.size;
    taken.push({ hash, file });
  }
  const contents = await sideBySide(taken, atOnce, async ({ hash, file }) => {
    return { hash, ...toContent(await buffer(file.open())) };
  });
  return { contents, missing: asked.filter((hash) => !kept.has(hash)), left };
}

function toWanted(change: Sent, deviceId: string): WantedChange | Fault {
  const { path, operation, baseHash, hash, content, encoding = 'utf8', ...more } = change;
  const { executable, opId, strict } = more;
  const common = {
    deviceId,
    path,
    ...(baseHash === undefined ? {} : { baseHash }),
    ...(opId === undefined ? {} : { opId }),
    ...(strict === undefined ? {} : { isStrict: strict }),
  };
  if (operation === 'delete') return common;
  const executes = executable === undefined ? {} : { isExecutable: executable };
  if (content !== undefined) {
    const announced = hash === undefined ? {} : { hash };
    return { ...common, ...executes, ...announced, content: Buffer.from(content, encoding) };
  }
  if (hash !== undefined) return { ...common, ...executes, content: { kept: hash } };
  return new Fault('invalid', `${path} needs a content or its hash`, {
    reason: 'validation_error',
  });
}

function toResult({ path, opId, hash }: Sent, outcome: AppliedChange | Fault | undefined) {
  const named = { path, ...(opId === undefined ? {} : { opId }) };
  if (!outcome || outcome instanceof Fault) {
    const fault = outcome ?? new Fault('internal', 'the change was not carried out');
    const code = (fault.reason ?? fault.code).toUpperCase();
    const isMissing = fault.reason === 'content_missing' && hash !== undefined;
    const error = { code, message: fault.message, details: { ...fault.detail } };
    return { ...named, outcome: isMissing ? ('missing' as const) : ('refused' as const), error };
  }
  const { record, conflictCopy, seq } = outcome;
  return {
    ...named,
    outcome: outcome.outcome,
    seq,
    ...(record ? { file: shown(record) } : {}),
    ...(conflictCopy ? { conflictCopy: shown(conflictCopy) } : {}),
  };
}

function shown({ path, hash, size, isExecutable, seq }: FileRecord) {
  return { path, hash, size, executable: isExecutable, seq };
}
