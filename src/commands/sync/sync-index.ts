import { lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '../../kit/errors.ts';
import { ownFolder } from '../../studio/files/paths.ts';

/** What a path held here and in the workspace when both were last equal. */
export interface BaseFile {
  readonly hash: string;
  readonly executable: boolean;
}

interface Stored {
  readonly version: 1;
  readonly workspaceId: string;
  readonly files: Readonly<Record<string, BaseFile>>;
}

const indexFile = 'sync.json';
const bytesMax = 256 * 1024 * 1024;

/** What a folder and a workspace last agreed on, in `.ennead/sync.json` of the folder. */
export class SyncIndex {
  readonly #folder: string;
  readonly #workspaceId: string;
  readonly files: Map<string, BaseFile>;
  #isDirty = false;
  #saving: Promise<void> = Promise.resolve();

  private constructor(root: string, workspaceId: string, files: Map<string, BaseFile>) {
    this.#folder = join(root, ownFolder);
    this.#workspaceId = workspaceId;
    this.files = files;
  }

  /** Throws `conflict` for a folder that follows another workspace; an index that is broken is none. */
  static async open(root: string, workspaceId: string): Promise<SyncIndex> {
    const folder = join(root, ownFolder);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    if (!(await lstat(folder)).isDirectory()) {
      throw new Fault('conflict', `${folder} is no folder of its own`);
    }
    const names = await readdir(folder);
    for (const name of names.filter((one) => one.startsWith('tmp_'))) {
      await rm(join(folder, name), { force: true });
    }
    const stored = await read(join(folder, indexFile));
    if (stored && stored.workspaceId !== workspaceId) {
      throw new Fault('conflict', `${root} follows the workspace ${stored.workspaceId} already`);
    }
    return new SyncIndex(root, workspaceId, new Map(Object.entries(stored?.files ?? {})));
  }

  /** Undefined: neither side has it. */
  note(path: string, file: BaseFile | undefined): void {
    const known = this.files.get(path);
    if (known?.hash === file?.hash && known?.executable === file?.executable) return;
    if (file) this.files.set(path, { hash: file.hash, executable: file.executable });
    else this.files.delete(path);
    this.#isDirty = true;
  }

  /** Writes it in one step, if anything has changed. */
  save(): Promise<void> {
    const write = () => this.#write();
    this.#saving = this.#saving.then(write, write);
    return this.#saving;
  }

  async #write(): Promise<void> {
    if (!this.#isDirty) return;
    this.#isDirty = false;
    const files = Object.fromEntries(this.files);
    const stored: Stored = { version: 1, workspaceId: this.#workspaceId, files };
    const staged = join(this.#folder, `tmp_${process.pid}`);
    const file = await open(staged, 'w', 0o600);
    try {
      await file.writeFile(JSON.stringify(stored));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(staged, join(this.#folder, indexFile));
  }
}

async function read(path: string): Promise<Stored | undefined> {
  const found = await lstat(path).catch(() => undefined);
  if (!found?.isFile() || found.size > bytesMax) return undefined;
  const file = await open(path, 'r');
  try {
    const stored = JSON.parse(await file.readFile('utf8')) as Stored;
    return stored.version === 1 ? stored : undefined;
  } catch {
    return undefined;
  } finally {
    await file.close();
  }
}
