import { dirname } from 'node:path';
import type { Log } from '../../kit/log.ts';
import type { InstalledModel } from './installed-model.ts';
import { writeManifest, type Manifest } from './manifest.ts';
import { digestOfModel, statModel } from './model-files.ts';

/** Works out the digests of files that were put into the folder by hand, one file at a time. */
export class Digests implements AsyncDisposable {
  readonly #folder: string;
  readonly #log: Log;
  readonly #stop = new AbortController();
  readonly #running = new Map<string, Promise<string>>();
  readonly #known = new Map<string, string>();
  readonly #wanted = new Set<string>();
  #last: Promise<unknown> = Promise.resolve();

  /**
   * Manifests are kept in this folder only; digests of files elsewhere, and of those that are no
   * usable model, live as long as the process.
   */
  constructor(folder: string, log: Log) {
    this.#folder = folder;
    this.#log = log;
  }

  /** The digest where it is known already. */
  find(model: InstalledModel): string | undefined {
    return model.digest ?? this.#known.get(keyOf(model));
  }

  /** The digest of a model, known or read from its file now. */
  of(model: InstalledModel): Promise<string> {
    const known = this.find(model);
    if (known !== undefined) return Promise.resolve(known);
    const key = keyOf(model);
    const running = this.#running.get(key);
    if (running) return running;
    const digest = this.#last.then(() => this.#compute(model));
    this.#last = digest.catch(() => {}).then(() => this.#running.delete(key));
    this.#running.set(key, digest);
    return digest;
  }

  /** Sees to it that the digest is known some time later. */
  want(model: InstalledModel): void {
    const { path } = model;
    // A file that is still being copied changes with every look at it: one of them is enough.
    if (this.#stop.signal.aborted || this.#wanted.has(path)) return;
    this.#wanted.add(path);
    void this.#find(model);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#last;
  }

  async #find(model: InstalledModel): Promise<void> {
    try {
      await this.of(model);
    } catch (error) {
      this.#log.debug({ err: error }, 'a model has no digest');
    } finally {
      this.#wanted.delete(model.path);
    }
  }

  async #compute(model: InstalledModel): Promise<string> {
    this.#stop.signal.throwIfAborted();
    const digest = await digestOfModel(model.path, this.#stop.signal);
    const { size, mtime } = await statModel(model.path);
    const modifiedMs = mtime.getTime();
    // A file that is still being copied into the folder gets its digest once it stands still.
    if (size !== model.bytes || modifiedMs !== model.modifiedAt.getTime()) return digest;
    this.#known.set(keyOf(model), digest);
    // What is beside a damaged file says where it came from, and so whether it may be replaced.
    if (dirname(model.path) === this.#folder && model.header) {
      await writeManifest(model.path, manifestOf(model, { digest, modifiedMs }));
    }
    return digest;
  }
}

function keyOf({ path, bytes, modifiedAt }: InstalledModel): string {
  return [path, bytes, modifiedAt.getTime()].join('|');
}

function manifestOf(
  model: InstalledModel,
  { digest, modifiedMs }: { readonly digest: string; readonly modifiedMs: number },
): Manifest {
  const { name, path, bytes, licence, modifiedAt } = model;
  const pulledAt = modifiedAt.toISOString();
  const facts = { name, source: path, digest, bytes, modifiedMs, pulledAt };
  return licence === undefined ? facts : { ...facts, licence };
}
