import { constants, type Stats } from 'node:fs';
import { open, realpath, stat, type FileHandle } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { Fault } from '../../../kit/errors.ts';

/** A file's content. */
export interface FoundFile {
  readonly bytes: Buffer;
  readonly modifiedAt: Date;
}

/**
 * Reads a regular file below a folder. Faults: `forbidden` (`path_outside_root`) for whatever leads
 * out of it, by its words or by links; `not_found` (`file_not_found`); `invalid` (`not_a_file`) for
 * folders, devices and pipes, which are never waited for; `too_large` (`file_too_large`).
 */
export async function readFileBelow(
  root: string,
  path: string,
  bytesMax: number,
): Promise<FoundFile> {
  if (!isPlain(path)) throw outside();
  try {
    const realRoot = await realpath(root);
    const real = await realpath(join(realRoot, path));
    if (!isBelow(real, realRoot)) throw outside();
    // A pipe that nobody writes to would block a plain open.
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    await using file = await open(real, flags);
    return await readChecked(file, real, bytesMax);
  } catch (error) {
    throw toFault(error);
  }
}

/** Fails when a folder was swapped for a link between the check of the path and its opening. */
async function readChecked(file: FileHandle, real: string, bytesMax: number): Promise<FoundFile> {
  const found = await file.stat();
  if ((await realpath(real)) !== real || !isSame(found, await stat(real))) throw outside();
  if (!found.isFile()) {
    throw new Fault('invalid', 'the path names no regular file', { reason: 'not_a_file' });
  }
  const bytes = await readAtMost(file, bytesMax + 1);
  if (bytes.length > bytesMax) {
    const message = `the file is larger than ${bytesMax} bytes`;
    throw new Fault('too_large', message, { reason: 'file_too_large' });
  }
  return { bytes, modifiedAt: found.mtime };
}

/** Reads until the end, or so many bytes: sizes that a file system tells may be wrong or grow. */
async function readAtMost(file: FileHandle, bytesMax: number): Promise<Buffer> {
  const bytes = Buffer.alloc(bytesMax);
  let length = 0;
  while (length < bytesMax) {
    const { bytesRead } = await file.read(bytes, length, bytesMax - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return bytes.subarray(0, length);
}

/**
 * Whether a path is relative and goes only downwards, also when somebody reads escapes in it. Names
 * that only look like a way out are refused with those that are one.
 */
function isPlain(path: string): boolean {
  const folded = path.normalize('NFKC');
  const isEscaped = /%(25)*(2e|2f|5c|00)/i.test(folded);
  // A colon names a drive, or on Windows a stream of a file.
  const isDrive = sep === '\\' ? folded.includes(':') : /^[a-z]:/i.test(folded);
  const hasOddCharacters = /[\\\p{Cc}]/u.test(folded);
  if (isEscaped || isDrive || hasOddCharacters || folded.startsWith('/')) return false;
  return !folded.split('/').some((segment) => segment === '..' || segment === '~');
}

function isBelow(path: string, root: string): boolean {
  return path.startsWith(root.endsWith(sep) ? root : root + sep);
}

function isSame(one: Stats, other: Stats): boolean {
  return one.ino === other.ino && one.dev === other.dev;
}

function outside(): Fault {
  const message = 'the path leads out of the folder for files';
  return new Fault('forbidden', message, { reason: 'path_outside_root' });
}

/** Messages of the file system name the folder, which is nobody's business. */
function toFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  const { code = '' } = error as NodeJS.ErrnoException;
  if (['ENOENT', 'ENOTDIR', 'ENAMETOOLONG'].includes(code)) {
    return new Fault('not_found', 'there is no such file', { reason: 'file_not_found' });
  }
  if (code === 'ENXIO' || code === 'EISDIR') {
    return new Fault('invalid', 'the path names no regular file', { reason: 'not_a_file' });
  }
  if (code === 'EACCES' || code === 'EPERM') {
    return new Fault('forbidden', 'the file cannot be read', { reason: 'file_not_readable' });
  }
  if (code === 'ELOOP') return outside();
  return new Fault('unavailable', 'the file cannot be read now', { cause: error });
}
