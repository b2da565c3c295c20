import { constants } from 'node:fs';
import { open, readlink, realpath, type FileHandle } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { Fault } from '../../kit/errors.ts';

/** A folder that is held open. */
export interface Anchor extends AsyncDisposable {
  readonly folder: FileHandle;
  /** Of a name in it, by way of the folder itself. */
  readonly pathOf: (name: string) => string;
}

/** The folder of a path below a root, if it is really one inside; undefined otherwise. */
export async function parentOf(root: string, path: string): Promise<string | undefined> {
  const parts = path.split('/').slice(0, -1);
  const [realRoot, real] = await Promise.all([
    realpath(root).catch(() => undefined),
    realpath(join(root, ...parts)).catch(() => undefined),
  ]);
  if (realRoot === undefined || real === undefined) return undefined;
  // Equal to what it is called: no part of the way is a link.
  const isInside = real === realRoot || real.startsWith(realRoot + sep);
  return isInside && real === join(realRoot, ...parts) ? real : undefined;
}

/**
 * The folder of a path, held open, and paths through it that stay inside whatever is made of the folders
 * meanwhile. Where the system has no such paths they are the usual ones, checked a moment ago.
 */
export async function openAnchor(root: string, path: string): Promise<Anchor> {
  const parent = await parentOf(root, path);
  if (parent === undefined) throw inTheWay(path);
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
  const folder = await open(parent, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  const close = () => folder.close();
  if (process.platform !== 'linux') {
    return { folder, pathOf: (name) => join(parent, name), [Symbol.asyncDispose]: close };
  }
  const through = `/proc/self/fd/${folder.fd}`;
  if ((await readlink(through)) !== parent) {
    await close();
    throw inTheWay(path);
  }
  return { folder, pathOf: (name) => `${through}/${name}`, [Symbol.asyncDispose]: close };
}

/** The folder of a relative path; empty for one at the top. */
export function folderOf(path: string): string {
  const folder = dirname(path);
  return folder === '.' ? '' : folder;
}

/** Fault `invalid` (`path_invalid`). */
export function inTheWay(path: string): Fault {
  return new Fault('invalid', `something that is no file or folder of ours lies at ${path}`, {
    reason: 'path_invalid',
  });
}
