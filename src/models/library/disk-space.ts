import { statfs } from 'node:fs/promises';
import { Fault } from '../../kit/errors.ts';

/** Fault `unavailable` (`disk_full`) when so many further bytes do not fit. */
export async function requireSpace(folder: string, needed: number): Promise<void> {
  const free = await freeBytes(folder);
  if (needed > free) throw diskFull({ needed, free });
}

/**
 * Turns what the disk of a folder refuses into a Fault that says so, with how many bytes were to be
 * written; Faults pass as they are.
 */
export async function guardDisk<T>(
  writing: Promise<T>,
  { folder, needed }: { readonly folder: string; readonly needed: number },
): Promise<T> {
  try {
    return await writing;
  } catch (error) {
    if (error instanceof Fault) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG') {
      throw diskFull({ needed, free: await freeBytes(folder).catch(() => 0) }, error);
    }
    throw new Fault('unavailable', 'the models folder cannot be written to', {
      cause: error,
      reason: 'folder_unwritable',
    });
  }
}

function diskFull(
  detail: { readonly needed: number; readonly free: number },
  cause?: unknown,
): Fault {
  const figures = `${detail.needed} bytes are needed, ${detail.free} bytes are free`;
  const message = `the disk of the models folder is full: ${figures}`;
  return new Fault('unavailable', message, { reason: 'disk_full', status: 507, detail, cause });
}

/** How many bytes a folder's disk has left for this process. */
async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
