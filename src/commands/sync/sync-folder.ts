import { createHash } from 'node:crypto';
import { lstat, open, readdir, realpath } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { Fault } from '../../kit/errors.ts';
import { hashStream } from '../../studio/files/blobs.ts';
import { DiskStamps } from '../../studio/files/disk-stamps.ts';
import { ignoreFile, IgnoreRules } from '../../studio/files/ignore-rules.ts';
import { folderOf } from '../../studio/files/folder-anchor.ts';
import { conflictPath, flawOf } from '../../studio/files/paths.ts';
import { sideBySide } from '../../studio/files/side-by-side.ts';
import { WorkspaceFolder, type StagedFile } from '../../studio/files/workspace-folder.ts';
import type { BaseFile } from './sync-index.ts';

/** What lies at a path: a file, nothing, or something that is left alone, with why. */
export type LocalState =
  | ({ readonly kind: 'file'; readonly size: number } & BaseFile)
  | { readonly kind: 'nothing' }
  | { readonly kind: 'other'; readonly why: string };

/** What lies in the folder, and why the other side cannot have it; without a flaw it can. */
export interface FolderEntry {
  readonly path: string;
  readonly flaw: string | undefined;
}

/** Where to take content from; what comes is checked by its hash. */
export interface Incoming extends BaseFile {
  readonly body: ReadableStream<Uint8Array> | Buffer;
}

/** A content for a path, and what the path has to hold before. */
export interface Received extends Incoming {
  readonly path: string;
  readonly expected: LocalState;
}

const atOnce = 16;

/** The folder of this machine; nothing outside it is read or written, and no link is followed. */
export class SyncFolder {
  readonly #folder: WorkspaceFolder;
  readonly #stamps = new DiskStamps();
  #rules: IgnoreRules;

  private constructor(root: string, rules: IgnoreRules) {
    this.#folder = new WorkspaceFolder(root);
    this.#rules = rules;
  }

  /** Throws `not_found` for what is no folder. */
  static async open(path: string): Promise<SyncFolder> {
    const root = await realpath(path).catch(() => undefined);
    if (root === undefined || !(await lstat(root)).isDirectory()) {
      throw new Fault('not_found', `${path} is no folder`);
    }
    return new SyncFolder(root, await IgnoreRules.of(root));
  }

  get root(): string {
    return this.#folder.root;
  }

  /** Whether a path is one that both sides can have, and is not ignored. */
  isKept(path: string): boolean {
    return flawOfName(path) === undefined && !this.#isIgnored(path);
  }

  isKeptFolder(path: string): boolean {
    return flawOfName(path) === undefined && !this.#rules.ignoresFolder(path);
  }

  /** All files, and what else is not ignored; throws `unavailable` when the folder itself is away. */
  async *entries(): AsyncGenerator<FolderEntry> {
    await this.#folder.requireRoot();
    this.#rules = await IgnoreRules.of(this.root);
    const unread: string[] = [''];
    for (let current = unread.pop(); current !== undefined; current = unread.pop()) {
      const absolute = current === '' ? this.root : this.#folder.absolute(current);
      const entries = await readdir(absolute, { withFileTypes: true }).catch(() => []);
      for (const entry of entries) {
        const path = current === '' ? entry.name : `${current}/${entry.name}`;
        const isFolder = entry.isDirectory();
        if (isFolder ? this.#rules.ignoresFolder(path) : this.#isIgnored(path)) continue;
        const flaw = flawOfName(path);
        if (isFolder && flaw === undefined) unread.push(path);
        else yield { path, flaw };
      }
    }
  }

  #isIgnored(path: string): boolean {
    return path !== ignoreFile && this.#rules.ignores(path);
  }

  async stateOf(path: string): Promise<LocalState> {
    const found = await this.#folder.find(path);
    if (!found) return this.#absence(path);
    const { size, isExecutable: executable } = found;
    const known = this.#stamps.hashOf('', path, found);
    if (known !== undefined) return { kind: 'file', hash: known, executable, size };
    const file = await this.#folder.open(path);
    if (!file) return { kind: 'other', why: 'it cannot be read' };
    const hash = await hashStream(file.createReadStream());
    this.#stamps.note('', path, { file: found, hash });
    return { kind: 'file', hash, executable, size };
  }

  /** Undefined when it has gone meanwhile. */
  async read(path: string): Promise<Buffer | undefined> {
    const file = await this.#folder.open(path);
    if (!file) return undefined;
    try {
      return await file.readFile();
    } finally {
      await file.close();
    }
  }

  /** Its bytes piece by piece; `conflict` (`hash_mismatch`) when it has gone meanwhile. */
  async stream(path: string): Promise<ReadableStream<Uint8Array>> {
    const file = await this.#folder.open(path);
    if (!file) throw new Fault('conflict', 'it has gone', { reason: 'hash_mismatch' });
    // The same bytes; only their types differ.
    return Readable.toWeb(file.createReadStream()) as ReadableStream<Uint8Array>;
  }

  /**
   * Puts contents at paths, each in one step, where the path still holds what was expected when all has come;
   * answers for each whether it did, or why it could not.
   */
  async receive(files: readonly Received[]): Promise<Map<string, boolean | Error>> {
    const outcomes = new Map<string, boolean | Error>();
    const fail = (path: string) => (error: unknown) => void outcomes.set(path, toError(error));
    await this.#makeRoom(files, fail);
    const reachable = files.filter(({ path }) => !outcomes.has(path));
    if (reachable.length === 0) return outcomes;
    const names = await this.#folder.stage(reachable, (file, target) =>
      download(file, target).catch(fail(file.path)),
    );
    const staged: StagedFile[] = [];
    const come = [...reachable.entries()].filter(([, { path }]) => !outcomes.has(path));
    await sideBySide(come, atOnce, async ([index, { path, executable, expected }]) => {
      const isExpected = isSame(await this.stateOf(path), expected);
      if (isExpected) staged.push({ name: names[index] ?? '', path, isExecutable: executable });
      outcomes.set(path, isExpected);
    });
    const failures = await this.#folder.place(staged);
    for (const [path, error] of failures) outcomes.set(path, toError(error));
    const placed = new Set(staged.map(({ name }) => name));
    await this.#folder.discard(names.filter((name) => !placed.has(name)));
    return outcomes;
  }

  /** False when the path holds something else by now. */
  async remove(path: string, expected: LocalState): Promise<boolean> {
    if (!isSame(await this.stateOf(path), expected)) return false;
    await this.#folder.remove(path);
    return true;
  }

  /** Copies a file beside itself, as the loser of a conflict; answers where, undefined when it is gone. */
  async copyAside(path: string, deviceId: string): Promise<string | undefined> {
    const state = await this.stateOf(path);
    const file = state.kind === 'file' ? await this.#folder.open(path) : undefined;
    if (!file || state.kind !== 'file') return undefined;
    const target = await this.#freePath(path, deviceId);
    // The same bytes; only their types differ.
    const body = Readable.toWeb(file.createReadStream()) as ReadableStream<Uint8Array>;
    const incoming = { ...state, path: target, body, expected: { kind: 'nothing' as const } };
    const outcome = (await this.receive([incoming])).get(target);
    if (outcome instanceof Error) throw outcome;
    return outcome ? target : undefined;
  }

  /** Makes the folders of files, each once, and sees that nothing else lies where the files go. */
  async #makeRoom(
    files: readonly Received[],
    fail: (path: string) => (error: unknown) => void,
  ): Promise<void> {
    const made = new Map<string, Promise<void>>();
    await sideBySide(files, atOnce, async ({ path }) => {
      const folder = folderOf(path);
      const making = made.get(folder) ?? this.#folder.makeParents(path);
      made.set(folder, making);
      await making.then(() => this.#folder.requirePlace(path)).catch(fail(path));
    });
  }

  async #freePath(path: string, deviceId: string): Promise<string> {
    const at = new Date();
    for (let count = 0; ; count += 1) {
      const device = count === 0 ? deviceId.slice(0, 28) : `${deviceId.slice(0, 28)}-${count}`;
      const target = conflictPath(path, device, at);
      if ((await this.stateOf(target)).kind === 'nothing') return target;
    }
  }

  async #absence(path: string): Promise<LocalState> {
    await this.#folder.requireRoot();
    const found = await lstat(this.#folder.absolute(path)).catch(() => undefined);
    if (!found || found.isDirectory()) return { kind: 'nothing' };
    return { kind: 'other', why: 'it is a link, no file, or has several names' };
  }
}

/** Why both sides cannot have a path; undefined when they can. */
function flawOfName(path: string): string | undefined {
  const isComposed = path.normalize('NFC') === path;
  return flawOf(path) ?? (isComposed ? undefined : 'its name is not in Unicode form NFC');
}

/** Whether two looks at a path saw the same. */
export function isSame(one: LocalState, other: LocalState): boolean {
  if (one.kind !== 'file' || other.kind !== 'file') {
    return one.kind === other.kind && one.kind !== 'other';
  }
  return one.hash === other.hash && one.executable === other.executable;
}

async function download({ body, hash: announced }: Incoming, target: string): Promise<void> {
  const hash = createHash('sha256');
  // The platform's web streams are Node's; only their types differ.
  const source = Buffer.isBuffer(body)
    ? [body]
    : Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0]);
  const file = await open(target, 'wx', 0o644);
  try {
    for await (const piece of source) {
      // Streams of bytes give Buffers.
      const bytes = piece as Buffer;
      hash.update(bytes);
      await file.appendFile(bytes);
    }
    await file.sync();
  } finally {
    await file.close();
  }
  if (hash.digest('hex') === announced) return;
  throw new Fault('conflict', 'what came is not what was announced');
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
