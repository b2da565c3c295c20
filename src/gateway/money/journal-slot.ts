import { readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import {
  acquireLockFile,
  LockedError,
  releaseLockFile,
  touchLockFile,
} from '../../kit/database/lock-file.ts';
import { toJournal } from './unfinished-spends.ts';

const touchEveryMs = 5_000;
const fileNames = /^spend-(\d+)\.(\d{8})\.journal$/;

interface JournalFile {
  readonly name: string;
  readonly slot: number;
  readonly number: number;
}

/**
 * A replica's own place in the folder of journals: the lowest number that no live process holds.
 * Files of places whose process died are taken over.
 */
export class JournalSlot implements AsyncDisposable {
  readonly folder: string;
  readonly slot: number;
  readonly #token: string;
  readonly #timer: NodeJS.Timeout;
  #lastNumber = 0;

  private constructor(folder: string, { slot, token }: { slot: number; token: string }) {
    this.folder = folder;
    this.slot = slot;
    this.#token = token;
    const path = lockPath(folder, slot);
    this.#timer = setInterval(() => void touchLockFile(path).catch(() => {}), touchEveryMs).unref();
  }

  static async take(folder: string): Promise<JournalSlot> {
    for (let slot = 0; ; slot += 1) {
      const token = await tryLock(folder, slot);
      if (token !== undefined) return new JournalSlot(folder, { slot, token });
    }
  }

  /** A path that no file of this slot has yet; they sort in the order in which they are asked for. */
  nextPath(): string {
    this.#lastNumber += 1;
    return this.#pathOf(this.#lastNumber);
  }

  /** Where what is unfinished in this process is kept. */
  get unfinishedPath(): string {
    return unfinishedPath(this.folder, this.slot);
  }

  /** The journal that is made of what the process before in this place left unfinished. */
  async adoptUnfinished(): Promise<string[]> {
    return toJournal(this.unfinishedPath, () => this.nextPath());
  }

  /** Files that dead processes left, the oldest first, now under names of this slot. */
  async adopt(isOwn: (path: string) => boolean): Promise<string[]> {
    const files = await listFiles(this.folder);
    const paths: string[] = [];
    for (const { name, number } of files.filter((file) => file.slot === this.slot)) {
      const path = join(this.folder, name);
      this.#lastNumber = Math.max(this.#lastNumber, number);
      if (!isOwn(path)) paths.push(path);
    }
    const others = new Set(files.map(({ slot }) => slot).filter((slot) => slot !== this.slot));
    for (const slot of others) paths.push(...(await this.#adoptSlot(slot)));
    return paths;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await releaseLockFile(lockPath(this.folder, this.slot), this.#token);
  }

  async #adoptSlot(slot: number): Promise<string[]> {
    const token = await tryLock(this.folder, slot);
    if (token === undefined) return [];
    try {
      const paths: string[] = [];
      const files = await listFiles(this.folder);
      for (const { name } of files.filter((file) => file.slot === slot)) {
        const path = this.nextPath();
        await rename(join(this.folder, name), path);
        paths.push(path);
      }
      const unfinished = unfinishedPath(this.folder, slot);
      paths.push(...(await toJournal(unfinished, () => this.nextPath())));
      return paths;
    } finally {
      await releaseLockFile(lockPath(this.folder, slot), token);
    }
  }

  #pathOf(number: number): string {
    const digits = String(number).padStart(8, '0');
    return join(this.folder, `spend-${this.slot}.${digits}.journal`);
  }
}

function unfinishedPath(folder: string, slot: number): string {
  return join(folder, `spend-${slot}.unfinished`);
}

function lockPath(folder: string, slot: number): string {
  return join(folder, `spend-${slot}.lock`);
}

async function tryLock(folder: string, slot: number): Promise<string | undefined> {
  try {
    return await acquireLockFile(lockPath(folder, slot));
  } catch (error) {
    if (error instanceof LockedError) return undefined;
    throw error;
  }
}

async function listFiles(folder: string): Promise<JournalFile[]> {
  const files: JournalFile[] = [];
  for (const name of await readdir(folder)) {
    const [, slot, number] = fileNames.exec(name) ?? [];
    if (slot !== undefined) files.push({ name, slot: Number(slot), number: Number(number) });
  }
  return files.toSorted((one, other) => one.number - other.number);
}
