import { createHash, type Hash } from 'node:crypto';
import { open, readFile, rm, writeFile, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Type, type Static } from 'typebox';
import { Value } from 'typebox/value';
import { guardDisk, requireSpace } from '../disk-space.ts';
import { hashFile } from '../file-digest.ts';

/** What a cut download must know to go on; stands beside the part as `<part>.json`. */
const PartState = Type.Object({
  url: Type.String(),
  digest: Type.Union([Type.String(), Type.Null()]),
  /** A strong entity tag of the content (RFC 9110 section 8.8.3). */
  etag: Type.Union([Type.String(), Type.Null()]),
});
export type PartState = Static<typeof PartState>;

/** What has arrived of a file; it outlives the process, and its hash is always that of its bytes. */
export class PartFile implements AsyncDisposable {
  readonly path: string;
  readonly #file: FileHandle;
  #hash: Hash = createHash('sha256');
  #bytes = 0;
  #etag: string | undefined;

  private constructor(path: string, file: FileHandle) {
    this.path = path;
    this.#file = file;
  }

  /** Opens the part of an earlier attempt at the same content, else an empty one. */
  static async open(
    path: string,
    wanted: Omit<PartState, 'etag'>,
    signal: AbortSignal,
  ): Promise<PartFile> {
    // Not 'a': then Linux would append wherever a write says it goes.
    const disk = { folder: dirname(path), needed: 0 };
    const file = await open(path, 'r+').catch(() => guardDisk(open(path, 'w+', 0o600), disk));
    const part = new PartFile(path, file);
    try {
      await part.#resume(wanted, signal);
      return part;
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  get bytes(): number {
    return this.#bytes;
  }

  get etag(): string | undefined {
    return this.#etag;
  }

  /** Begins anew. */
  async clear(): Promise<void> {
    await this.#file.truncate(0);
    this.#hash = createHash('sha256');
    this.#bytes = 0;
    this.#etag = undefined;
  }

  /** Keeps what a later attempt must know. */
  async remember(state: PartState): Promise<void> {
    const text = JSON.stringify(state);
    const writing = writeFile(statePath(this.path), text, { mode: 0o600 });
    await guardDisk(writing, { folder: dirname(this.path), needed: text.length });
    this.#etag = state.etag ?? undefined;
  }

  /** Fault `unavailable` (`disk_full`) when the disk is full; what is written stays. */
  async append(chunk: Uint8Array): Promise<void> {
    for (let done = 0; done < chunk.length;) {
      const write = this.#file.write(chunk, done, chunk.length - done, this.#bytes);
      const disk = { folder: dirname(this.path), needed: chunk.length - done };
      const { bytesWritten } = await guardDisk(write, disk);
      this.#hash.update(chunk.subarray(done, done + bytesWritten));
      done += bytesWritten;
      this.#bytes += bytesWritten;
    }
  }

  /** SHA-256 in hex of all bytes so far. */
  digest(): string {
    return this.#hash.copy().digest('hex');
  }

  /** Fault `unavailable` (`disk_full`) when so many further bytes do not fit. */
  async requireSpace(bytes: number): Promise<void> {
    await requireSpace(dirname(this.path), bytes);
  }

  /** Removes the part; its name may be another file's by now. */
  async remove(): Promise<void> {
    await removePart(this.path);
  }

  /** Closes it; one that has nothing to go on with is removed. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close();
    if (this.#bytes === 0) await removePart(this.path);
  }

  async #resume(wanted: Omit<PartState, 'etag'>, signal: AbortSignal): Promise<void> {
    const state = await readState(this.path);
    const isSame = state?.url === wanted.url || (state?.digest ?? null) !== null;
    if (!state || !isSame || state.digest !== wanted.digest) return this.clear();
    this.#bytes = await hashFile(this.path, this.#hash, { signal });
    this.#etag = state.etag ?? undefined;
  }
}

/** Removes what a pull to this path has left. */
export async function removePart(path: string): Promise<void> {
  await rm(path, { force: true });
  await rm(statePath(path), { force: true });
}

/** What the name of a file ends with that has not arrived. */
export const partExtension = '.part';

/** Where what has arrived of a file stands. */
export function partPath(modelPath: string): string {
  return `${modelPath}${partExtension}`;
}

function statePath(path: string): string {
  return `${path}.json`;
}

async function readState(path: string): Promise<PartState | undefined> {
  try {
    const state: unknown = JSON.parse(await readFile(statePath(path), 'utf8'));
    return Value.Check(PartState, state) ? state : undefined;
  } catch {
    return undefined;
  }
}
