import { createHash } from 'node:crypto';
import { close, createReadStream, open as openFile, read } from 'node:fs';
import { constants, copyFile, link, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { Fault } from '../../kit/errors.ts';
import { newId } from '../../kit/ids.ts';
import { syncFile, syncFolder, writeAll } from './disk-writes.ts';
import { groupBy } from '../../kit/group-by.ts';
import { KeyLocks } from './key-locks.ts';
import { sideBySide } from './side-by-side.ts';

/** Content that is kept. */
export interface Blob {
  /** SHA-256 in hex. */
  readonly hash: string;
  readonly size: number;
}

/** Content that lies written: `keep` or `forget` ends that. */
export interface WrittenBlob extends Blob {
  readonly path: string;
}

const atOnce = 16;

/** Contents by their hash, in files of their own; what is in here has reached the disk. */
export class Blobs {
  readonly #root: string;
  readonly #bytesMax: number;
  readonly #locks = new KeyLocks();
  /** Contents that are about to be named, by how many. */
  readonly #held = new Map<string, number>();

  /** `bytesMax`: the largest content. */
  constructor(root: string, bytesMax: number) {
    this.#root = root;
    this.#bytesMax = bytesMax;
  }

  /** Begins with a place for what is being written; what a crash left there goes. */
  async open(): Promise<void> {
    await rm(join(this.#root, 'staging'), { recursive: true, force: true });
    await mkdir(join(this.#root, 'staging'), { recursive: true, mode: 0o700 });
  }

  pathOf(hash: string): string {
    return join(this.#root, folderOf(hash), hash.slice(2));
  }

  async sizeOf(hash: string): Promise<number | undefined> {
    const found = await stat(this.pathOf(hash)).catch(() => undefined);
    return found?.size;
  }

  read(hash: string, range: { readonly start?: number; readonly end?: number } = {}): Readable {
    return createReadStream(this.pathOf(hash), { ...range, fs: contentFiles });
  }

  /**
   * Keeps content until it is released, though nothing names it yet; `too_large` beyond the largest, `invalid` (`hash_mismatch`) when it is not what was
   * announced, `exhausted` (`disk_full`) when there is no room. Nothing is left of what fails.
   */
  async hold(content: Buffer | Readable, announced?: string): Promise<Blob> {
    const written = await this.write(content, announced);
    await this.keep([written]);
    return { hash: written.hash, size: written.size };
  }

  /** Writes content to be kept, and does not wait for the disk; fails as `hold` does. */
  async write(content: Buffer | Readable, announced?: string): Promise<WrittenBlob> {
    const path = join(this.#root, 'staging', newId('blb'));
    try {
      const blob = await this.#write(content, path);
      if (announced !== undefined && announced !== blob.hash) throw hashMismatch(blob.hash);
      return { ...blob, path };
    } catch (error) {
      await rm(path, { force: true });
      throw diskFault(error);
    }
  }

  /**
   * Holds what was written, all of it or nothing, once it has reached the disk. The disk is asked for all
   * together: it has less to do then, and the contents of a folder need it once.
   */
  async keep(written: readonly WrittenBlob[]): Promise<void> {
    const counted: WrittenBlob[] = [];
    try {
      await sideBySide(written, atOnce, ({ path }) => syncFile(path));
      const groups = [...groupBy(written, ({ hash }) => folderOf(hash))];
      await sideBySide(groups, atOnce, ([folder, group]) =>
        this.#locks.run(folder, async () => {
          await this.#link(folder, group);
          for (const { hash } of group) this.#count(hash, 1);
          counted.push(...group);
        }),
      );
    } catch (error) {
      for (const { hash } of counted) this.release(hash);
      throw diskFault(error);
    } finally {
      await this.forget(written);
    }
  }

  /** Removes what was written and is not to be kept. */
  async forget(written: readonly WrittenBlob[]): Promise<void> {
    await sideBySide(written, atOnce, ({ path }) => rm(path, { force: true }));
  }

  /** Holds what is here already; undefined when it is not. */
  async holdKept(hash: string): Promise<Blob | undefined> {
    return this.#locks.run(folderOf(hash), async () => {
      const size = await this.sizeOf(hash);
      if (size === undefined) return undefined;
      this.#count(hash, 1);
      return { hash, size };
    });
  }

  release(hash: string): void {
    this.#count(hash, -1);
  }

  /** Removes what nobody holds, unless it is named; nobody can begin to hold it while that is asked. */
  async remove(hash: string, isNamed: () => Promise<boolean>): Promise<void> {
    await this.#locks.run(folderOf(hash), async () => {
      if (this.#held.has(hash) || (await isNamed())) return;
      await rm(this.pathOf(hash), { force: true });
    });
  }

  /** The hashes of all that is kept and older than so many milliseconds, in some pages. */
  async *pages(ageMs: number): AsyncGenerator<string[]> {
    const folders = await readdir(this.#root).catch(() => []);
    for (const folder of folders.filter((name) => /^[0-9a-f]{2}$/.test(name))) {
      const names = await readdir(join(this.#root, folder)).catch(() => []);
      const hashes: string[] = [];
      for (const name of names) {
        const found = await stat(join(this.#root, folder, name)).catch(() => undefined);
        if (found && Date.now() - found.ctimeMs > ageMs) hashes.push(folder + name);
      }
      if (hashes.length > 0) yield hashes;
    }
  }

  /** Fault `too_large` (`file_too_large`) for what is larger than any content here. */
  requireSize(size: number): void {
    if (size > this.#bytesMax) throw fileTooLarge(this.#bytesMax);
  }

  /**
   * Copies what is kept, or lies written, to a new file that its owner alone may read, and does not wait for
   * the disk; of what fails a part may be left.
   */
  async copy(
    { hash, path = this.pathOf(hash) }: Pick<Blob, 'hash'> & Partial<WrittenBlob>,
    target: string,
  ): Promise<void> {
    try {
      await copyFile(path, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    } catch (error) {
      const isLost = (await stat(path).catch(() => undefined)) === undefined;
      throw isLost ? contentLost(error) : diskFault(error);
    }
  }

  async #write(content: Buffer | Readable, path: string): Promise<Blob> {
    const hash = createHash('sha256');
    const file = await open(path, 'wx', 0o600);
    let size = 0;
    try {
      for await (const piece of Buffer.isBuffer(content) ? [content] : content) {
        // Streams of bytes give Buffers.
        const bytes = piece as Buffer;
        size += bytes.length;
        if (size > this.#bytesMax) throw fileTooLarge(this.#bytesMax);
        hash.update(bytes);
        await writeAll(file, bytes);
      }
    } finally {
      await file.close();
    }
    return { hash: hash.digest('hex'), size };
  }

  #count(hash: string, difference: 1 | -1): void {
    const count = (this.#held.get(hash) ?? 0) + difference;
    if (count > 0) this.#held.set(hash, count);
    else this.#held.delete(hash);
  }

  /** Contents that others have linked before are the same. */
  async #link(folder: string, group: readonly WrittenBlob[]): Promise<void> {
    const path = join(this.#root, folder);
    await mkdir(path, { recursive: true, mode: 0o700 });
    for (const one of group) {
      try {
        await link(one.path, this.pathOf(one.hash));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
    }
    await syncFolder(path);
  }
}

/** The folder within the root in which a content lies. */
function folderOf(hash: string): string {
  return hash.slice(0, 2);
}

type Opened = (error: Error | null, descriptor?: number) => void;

/** The files of contents: of one that the log names and the disk does not have it is told so. */
const contentFiles = {
  open: (path: string, flags: string, ...[, done]: [mode: number, done: Opened]) =>
    openFile(path, flags, (error, descriptor) =>
      done(error?.code === 'ENOENT' ? contentLost(error) : error, descriptor),
    ),
  read,
  close,
};

/** The SHA-256 of a stream of bytes in hex; rejects when it cannot be read. */
export async function hashStream(content: Readable): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of content) hash.update(piece as Buffer);
  return hash.digest('hex');
}

/** A full disk in words; all else as it is. */
export function diskFault(error: unknown): unknown {
  const { code } = (error ?? {}) as NodeJS.ErrnoException;
  if (code !== 'ENOSPC' && code !== 'EDQUOT' && code !== 'EFBIG') return error;
  return new Fault('unavailable', 'the disk of the studio is full', {
    cause: error,
    reason: 'disk_full',
    status: 507,
  });
}

function contentLost(cause: unknown): Fault {
  const message =
    'what the file held is not in the data folder of the studio: it came from elsewhere, or was not restored';
  return new Fault('unavailable', message, { reason: 'content_lost', cause });
}

function fileTooLarge(bytesMax: number): Fault {
  return new Fault('too_large', `a file has at most ${bytesMax} bytes here`, {
    reason: 'file_too_large',
    detail: { limit: bytesMax },
  });
}

function hashMismatch(hash: string): Fault {
  return new Fault('invalid', 'the content is not what its hash says', {
    reason: 'hash_mismatch',
    detail: { hash },
  });
}
