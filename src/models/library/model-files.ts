import { createHash } from 'node:crypto';
import { statSync, type Stats } from 'node:fs';
import { lstat, stat } from 'node:fs/promises';
import { digestOf } from './file-digest.ts';
import { pathsOfParts } from './split-files.ts';

/** What tells the contents of a model's files apart without opening them. */
export interface FilesMark {
  /** Of the first file. */
  readonly ino: number;
  /** Of all files together. */
  readonly size: number;
  /** Of the file that changed last. */
  readonly mtimeMs: number;
}

/** The state of what stands at a path. */
export interface PathState extends FilesMark {
  readonly mtime: Date;
  readonly isFile: boolean;
}

/** The state of the model that begins at a path; rejects as `stat` does when there is no such file. */
export async function statModel(path: string): Promise<PathState> {
  const [, ...later] = pathsOfParts(path);
  const first = await stat(path);
  // A part that is missing is for the reader of the headers to say.
  const found = await Promise.all(later.map((one) => stat(one).catch(() => undefined)));
  return joinStates(first, found);
}

/** Its mark at once: of a local file it takes microseconds, where a turn through the thread pool takes a hundred. */
export function markModelSync(path: string): FilesMark {
  const [, ...later] = pathsOfParts(path);
  const first = statSync(path);
  if (later.length === 0) return first;
  return joinStates(
    first,
    later.map((one) => statSync(one, { throwIfNoEntry: false })),
  );
}

function joinStates(first: Stats, later: readonly (Stats | undefined)[]): PathState {
  const all = [first, ...later.filter((one) => one !== undefined)];
  const newest = all.reduce((latest, one) => (one.mtimeMs > latest.mtimeMs ? one : latest));
  return {
    ino: first.ino,
    size: all.reduce((sum, one) => sum + one.size, 0),
    mtime: newest.mtime,
    mtimeMs: newest.mtimeMs,
    isFile: first.isFile(),
  };
}

/** As `statModel`; a link whose target is gone is an empty file, so that somebody sees it. */
export async function statModelOrLink(path: string): Promise<PathState> {
  try {
    return await statModel(path);
  } catch (error) {
    const link = await lstat(path);
    if (!link.isSymbolicLink()) throw error;
    const { ino, mtime, mtimeMs } = link;
    return { ino, size: 0, mtime, mtimeMs, isFile: true };
  }
}

/** SHA-256 of a model in hex; of one in several files, see `joinDigests`. */
export async function digestOfModel(path: string, signal?: AbortSignal): Promise<string> {
  const digests: string[] = [];
  for (const one of pathsOfParts(path)) digests.push(await digestOf(one, signal));
  return joinDigests(digests);
}

/** One digest for several files: that of their digests in hex, each with a line feed behind it. */
export function joinDigests(digests: readonly string[]): string {
  const [only, ...others] = digests;
  if (only !== undefined && others.length === 0) return only;
  return createHash('sha256')
    .update(digests.map((digest) => `${digest}\n`).join(''))
    .digest('hex');
}
