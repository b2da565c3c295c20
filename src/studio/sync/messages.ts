import { isUtf8 } from 'node:buffer';
import { buffer } from 'node:stream/consumers';
import type { AppliedChange, FileChange, FileRecord, WorkspaceFiles } from '../files/file.ts';

/** Up to here the content goes with the message. */
const inlineBytesMax = 256 * 1024;

/** A change as devices are told of it: the interface's sync event, with the `seq` to go on from. */
export async function toFileChange(
  files: Pick<WorkspaceFiles, 'read'>,
  change: FileChange,
): Promise<object> {
  const { workspaceId, seq, deviceId, atMs, path, operation, hash, baseHash } = change;
  const content = await inlineContent(files, change);
  return {
    type: 'file_change',
    workspaceId,
    seq,
    deviceId,
    timestamp: atMs,
    data: {
      path,
      operation,
      // Of a deletion: what was deleted.
      hash: hash ?? baseHash ?? '',
      ...(baseHash === undefined ? {} : { baseHash }),
      size: change.size,
      executable: change.isExecutable,
      ...(change.conflictOf === undefined ? {} : { conflictOf: change.conflictOf }),
      ...content,
    },
  };
}

/** Text as it is; what is no UTF-8 in base64. */
export function toContent(bytes: Buffer): {
  readonly content: string;
  readonly encoding: 'utf8' | 'base64';
} {
  return isUtf8(bytes)
    ? { content: bytes.toString(), encoding: 'utf8' }
    : { content: bytes.toString('base64'), encoding: 'base64' };
}

async function inlineContent(
  files: Pick<WorkspaceFiles, 'read'>,
  { workspaceId, path, hash, size }: FileChange,
): Promise<{ readonly content?: string; readonly encoding?: 'utf8' | 'base64' }> {
  if (hash === undefined || size > inlineBytesMax) return {};
  try {
    const { open } = await files.read(workspaceId, path, { hash });
    return toContent(await buffer(open()));
  } catch {
    // Forgotten meanwhile: a newer change follows.
    return {};
  }
}

/** What came of a device's own change. */
export function toOutcome(
  opId: string | undefined,
  { outcome, seq, record, conflictCopy }: AppliedChange,
): object {
  return {
    type: outcome === 'conflict' ? 'conflict' : 'applied',
    seq,
    timestamp: Date.now(),
    data: {
      ...(opId === undefined ? {} : { opId }),
      outcome,
      ...(record ? { file: fileOf(record) } : {}),
      ...(conflictCopy ? { conflictCopy: fileOf(conflictCopy) } : {}),
    },
  };
}

function fileOf({ path, hash, size, seq }: FileRecord) {
  return { path, hash, size, seq };
}
