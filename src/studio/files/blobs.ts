import { createHash } from 'node:crypto';
import { close, createReadStream, open as openFile, read } from 'node:fs';
import { link, mkdir, open, readdir, rm, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { Fault } from '../../kit/errors.ts';
import { newId } from '../../kit/ids.ts';
import { KeyLocks } from './key-locks.ts';

/** Content that is kept. */
export interface Blob {
  /** SHA-256 in hex. */
  readonly hash: string;
  readonly size: number;
}

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
    return join(this.#root, hash.slice(0, 2), hash.slice(2));
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
    const staged = join(this.#root, 'staging', newId('blb'));
    try {
      const blob = await this.#stage(content, staged);
      if (announced !== undefined && announced !== blob.hash) throw hashMismatch(blob.hash);
      await this.#locks.run(blob.hash, async () => {
        await this.#keep(staged, blob.hash);
        this.#count(blob.hash, 1);
      });
      return blob;
    } catch (error) {
      await rm(staged, { force: true });
      throw diskFault(error);
    }
  }

  /** Holds what is here already; undefined when it is not. */
  async holdKept(hash: string): Promise<Blob | undefined> {
    return this.#locks.run(hash, async () => {
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
    await this.#locks.run(hash, async () => {
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

  /** A copy that has reached the disk; nothing is left of one that failed. */
  async copyTo(hash: string, target: string, mode: number): Promise<void> {
    try {
      await copy(this.pathOf(hash), target, mode);
    } catch (error) {
      await rm(target, { force: true });
      throw diskFault(error);
    }
  }

  async #stage(content: Buffer | Readable, staged: string): Promise<Blob> {
    const hash = createHash('sha256');
    const file = await open(staged, 'wx', 0o600);
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
      await file.sync();
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

  /** Two writers of the same content may both come here. */
  async #keep(staged: string, hash: string): Promise<void> {
    const target = this.pathOf(hash);
    const folder = join(this.#root, hash.slice(0, 2));
    await mkdir(folder, { recursive: true, mode: 0o700 });
    try {
      await link(staged, target);
      await syncFolder(folder);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    await rm(staged, { force: true });
  }
}

async function copy(source: string, target: string, mode: number): Promise<void> {
  const file = await open(target, 'wx', mode);
  try {
    for await (const piece of createReadStream(source, { fs: contentFiles }))
      await writeAll(file, piece as Buffer);
    await file.sync();
  } finally {
    await file.close();
  }
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

async function writeAll(file: FileHandle, bytes: Buffer): Promise<void> {
  let written = 0;
  while (written < bytes.length) {
    const { bytesWritten } = await file.write(bytes, written);
    written += bytesWritten;
  }
}

/** A name that was made in a folder survives a power cut only when the folder was synced too. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

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

function contentLost(cause: Error): Fault {
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
