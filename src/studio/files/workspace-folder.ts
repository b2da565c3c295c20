import { constants } from 'node:fs';
import { chmod, lstat, mkdir, open, rename, rm, rmdir, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '../../kit/errors.ts';
import { newId } from '../../kit/ids.ts';
import type { Blobs } from './blobs.ts';
import { settleFile } from './disk-writes.ts';
import { folderOf, inTheWay, openAnchor, parentOf, type Anchor } from './folder-anchor.ts';
import { groupBy } from '../../kit/group-by.ts';
import { foldersOf, ownFolder } from './paths.ts';
import { sideBySide } from './side-by-side.ts';

/** What lies at a path of a folder. */
export interface DiskFile {
  readonly size: number;
  readonly isExecutable: boolean;
  readonly modifiedAtMs: number;
  /** Changes whenever the content may have. */
  readonly stamp: string;
}

/** `linked`: a plain file that has other names too, so that it is not read, and yet is there. */
export type DiskState = DiskFile | 'nothing' | 'linked' | 'other';

/** Where contents are copied from. */
export type Contents = Pick<Blobs, 'copy'>;

/** Content that waits in the folder's own place, on the disk, to be put at a path. */
export interface StagedFile {
  readonly name: string;
  readonly path: string;
  readonly isExecutable: boolean;
}

const executableBits = 0o111;
const plainMode = 0o644;
const atOnce = 16;
const foldersAtOnce = 4;
/** A pipe that took the place of a file does not hold its reader up. */
const readFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * The folder of one workspace. Nothing outside is ever read or written: symbolic links are not followed,
 * neither at the end of a path nor on the way to it, and only plain files with one name count.
 */
export class WorkspaceFolder {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  get root(): string {
    return this.#root;
  }

  absolute(path: string): string {
    return join(this.#root, ...path.split('/'));
  }

  /** What lies at each of some paths. */
  async look(paths: readonly string[]): Promise<Map<string, DiskState>> {
    const states = new Map<string, DiskState>();
    const byFolder = groupBy(paths, folderOf);
    for (const [, inside] of byFolder) {
      const isReached = (await parentOf(this.#root, inside[0] ?? '')) !== undefined;
      await sideBySide(inside, atOnce, async (path) => {
        states.set(path, isReached ? await stateAt(this.absolute(path)) : 'nothing');
      });
    }
    return states;
  }

  /** The plain file at a path; undefined when there is none, or something else. */
  async find(path: string): Promise<DiskFile | undefined> {
    const state = (await this.look([path])).get(path);
    return typeof state === 'object' ? state : undefined;
  }

  /** Opens the plain file at a path for reading; undefined when there is none. The caller closes it. */
  async open(path: string): Promise<FileHandle | undefined> {
    if ((await this.find(path)) === undefined) return undefined;
    try {
      const file = await open(this.absolute(path), readFlags);
      if (await this.#isStillAt(path, file)) return file;
      await file.close();
    } catch {
      // It has gone, or is a link by now.
    }
    return undefined;
  }

  /** A folder that is away, as on a disk that is not mounted, is not an empty one: `unavailable`. */
  async requireRoot(): Promise<void> {
    const found = await lstat(this.#root).catch(() => undefined);
    if (found?.isDirectory()) return;
    throw new Fault('unavailable', 'the folder of the workspace is not there', {
      reason: 'folder_missing',
      retryAfter: 10,
    });
  }

  /** Makes the folders above a path; `invalid` (`path_invalid`) where something else is in their way. */
  async makeParents(path: string): Promise<void> {
    await this.requireRoot();
    for (const folder of foldersOf(path)) {
      const made = await mkdir(this.absolute(folder), 0o755).then(
        () => true,
        () => false,
      );
      if (!made) await this.#requireFolder(folder);
    }
    if ((await parentOf(this.#root, path)) === undefined) throw inTheWay(path);
  }

  /** Fault `invalid` (`path_invalid`) where something that is no file lies at a path, or nothing can. */
  async requirePlace(path: string): Promise<void> {
    const found = await lstat(this.absolute(path)).catch((error: unknown) => {
      // With what is above the workspace it may be longer than the system allows.
      if (isTooLong(error)) throw tooLong(path);
    });
    if (found && !found.isFile()) throw inTheWay(path);
  }

  /** Puts content at a path in one step; what was there is gone. */
  async put(
    path: string,
    { hash, isExecutable, blobs }: { hash: string; isExecutable: boolean; blobs: Contents },
  ): Promise<void> {
    await this.makeParents(path);
    await this.requirePlace(path);
    const names = await this.stage([hash], (one, target) => blobs.copy({ hash: one }, target));
    await this.settle(names);
    const failures = await this.place([{ name: names[0] ?? '', path, isExecutable }]);
    if (failures.has(path)) throw failures.get(path);
  }

  /** Has contents written to the folder's own place, and answers their names, which begin with the kind. */
  async stage<Item>(
    items: readonly Item[],
    write: (item: Item, target: string) => Promise<void>,
    kind = 'tmp',
  ): Promise<string[]> {
    await this.requireRoot();
    await this.#makeStaging();
    await using staging = await openAnchor(this.#root, `${ownFolder}/_`);
    const names: string[] = [];
    try {
      return await sideBySide(items, atOnce, async (item) => {
        const name = newId(kind);
        names.push(name);
        await write(item, staging.pathOf(name));
        return name;
      });
    } catch (error) {
      await this.discard(names);
      throw error;
    }
  }

  /** Waits, for all of them together, until what was staged has reached the disk; else nothing is left of it. */
  async settle(names: readonly string[]): Promise<void> {
    await using staging = await openAnchor(this.#root, `${ownFolder}/_`);
    try {
      await sideBySide(names, atOnce, (name) => settleFile(staging.pathOf(name), plainMode));
    } catch (error) {
      await this.discard(names);
      throw error;
    }
  }

  /**
   * Puts what was staged in its places, each in one step; answers, once that has reached the disk, which
   * paths it failed for and why.
   */
  async place(files: readonly StagedFile[]): Promise<Map<string, unknown>> {
    const failures = new Map<string, unknown>();
    if (files.length === 0) return failures;
    await using staging = await openAnchor(this.#root, `${ownFolder}/_`);
    const groups = [...groupBy(files, ({ path }) => folderOf(path)).values()];
    await sideBySide(groups, foldersAtOnce, async (group) => {
      try {
        await this.#placeGroup(group, staging);
      } catch (error) {
        for (const { path } of group) failures.set(path, error);
      }
    });
    return failures;
  }

  /** Forgets what was staged and not placed. */
  async discard(names: readonly string[]): Promise<void> {
    if (names.length === 0) return;
    await using staging = await openAnchor(this.#root, `${ownFolder}/_`);
    for (const name of names) await rm(staging.pathOf(name), { force: true });
  }

  /** Deletes the file at a path, and the folders above it that are empty then. */
  async remove(path: string): Promise<void> {
    if ((await parentOf(this.#root, path)) === undefined) return;
    const found = await lstat(this.absolute(path)).catch(() => undefined);
    if (!found || found.isDirectory()) return;
    {
      await using parent = await openAnchor(this.#root, path);
      await rm(parent.pathOf(nameOf(path)), { force: true });
    }
    for (const folder of foldersOf(path).toReversed()) {
      const isGone = await rmdir(this.absolute(folder)).then(
        () => true,
        () => false,
      );
      if (!isGone) break;
    }
  }

  /** Forgets what a crash left half written. */
  async clearStaging(): Promise<void> {
    await rm(join(this.#root, ownFolder), { recursive: true, force: true });
  }

  async #placeGroup(group: readonly StagedFile[], staging: Anchor): Promise<void> {
    const [first] = group;
    if (!first) return;
    // It may have gone with the last file in it.
    if ((await parentOf(this.#root, first.path)) === undefined) await this.makeParents(first.path);
    await using parent = await openAnchor(this.#root, first.path);
    for (const { name, path, isExecutable } of group) {
      const staged = staging.pathOf(name);
      if (isExecutable) await chmod(staged, 0o755);
      await rename(staged, parent.pathOf(nameOf(path)));
    }
    await parent.folder.sync();
  }

  /** Whoever works in the folder may have put something else in its place. */
  async #makeStaging(): Promise<void> {
    const staging = join(this.#root, ownFolder);
    const found = await lstat(staging).catch(() => undefined);
    if (found?.isDirectory()) return;
    if (found) await rm(staging, { force: true });
    await mkdir(staging, { mode: 0o700, recursive: true });
  }

  /** What was opened is what lies at the path: no folder above was another for a moment. */
  async #isStillAt(path: string, file: FileHandle): Promise<boolean> {
    const held = await file.stat();
    if (!held.isFile() || held.nlink > 1) return false;
    if ((await parentOf(this.#root, path)) === undefined) return false;
    const found = await lstat(this.absolute(path));
    return found.ino === held.ino && found.dev === held.dev;
  }

  async #requireFolder(folder: string): Promise<void> {
    const found = await lstat(this.absolute(folder)).catch((error: unknown) => {
      if (isTooLong(error)) throw tooLong(folder);
    });
    if (!found?.isDirectory()) throw inTheWay(folder);
  }
}

function isTooLong(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENAMETOOLONG';
}

function tooLong(path: string): Fault {
  return new Fault('invalid', 'the path is too long for the folder of the workspace', {
    reason: 'path_invalid',
    detail: { path },
  });
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

async function stateAt(absolute: string): Promise<DiskState> {
  const found = await lstat(absolute).catch(() => undefined);
  if (!found) return 'nothing';
  if (!found.isFile()) return 'other';
  if (found.nlink > 1) return 'linked';
  return {
    size: found.size,
    isExecutable: (found.mode & executableBits) !== 0,
    modifiedAtMs: found.mtimeMs,
    stamp: `${found.ino}:${found.size}:${found.mtimeMs}:${found.ctimeMs}`,
  };
}
