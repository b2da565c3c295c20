import { randomUUID } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { Type, type Static } from 'typebox';
import { Value } from 'typebox/value';

/** What is known of a model file besides its content; it stands beside the file as `<file>.json`. */
export const Manifest = Type.Object({
  name: Type.String(),
  /** Where it came from: an address, or a path. */
  source: Type.String(),
  /** SHA-256 in hex; of a split model that of its files' digests, each with a line feed behind it. */
  digest: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  /** Of all files together. */
  bytes: Type.Integer({ minimum: 0 }),
  /** Of the newest file, in whole milliseconds; other files at that path do not have this manifest. */
  modifiedMs: Type.Number(),
  pulledAt: Type.String(),
  licence: Type.Optional(Type.String()),
});
export type Manifest = Static<typeof Manifest>;

/** The state of a model's files that a manifest is bound to. */
export interface FileState {
  readonly size: number;
  readonly mtime: Date;
}

/** The manifest beside a file, whatever has become of the file since. */
export async function readManifest(path: string): Promise<Manifest | undefined> {
  const text = await readFile(manifestPath(path), 'utf8').catch(() => undefined);
  const manifest = text === undefined ? undefined : parseJson(text);
  return Value.Check(Manifest, manifest) ? manifest : undefined;
}

/** Manifests that were found, for as long as their files stay as they are. */
export class ManifestCache {
  readonly #found = new Map<string, Manifest>();

  /**
   * The manifest of this state of a file; undefined when there is none. One that is not there yet is
   * looked for every time.
   */
  async read(path: string, state: FileState): Promise<Manifest | undefined> {
    const known = this.#found.get(path);
    if (known && isOfState(known, state)) return known;
    this.#found.delete(path);
    const manifest = await readManifest(path);
    if (!manifest || !isOfState(manifest, state)) return undefined;
    this.#found.set(path, manifest);
    return manifest;
  }

  /** Forgets the files that are no more. */
  keepOnly(paths: ReadonlySet<string>): void {
    for (const path of this.#found.keys()) if (!paths.has(path)) this.#found.delete(path);
  }
}

/** Replaces the manifest of a file at once or not at all. */
export async function writeManifest(path: string, manifest: Manifest): Promise<void> {
  const target = manifestPath(path);
  const temporary = `${target}.${randomUUID()}.part`;
  try {
    await writeFile(temporary, `${JSON.stringify(manifest, undefined, 2)}\n`, { flag: 'wx' });
    await rename(temporary, target);
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Where the manifest of a file stands. */
export function manifestPath(path: string): string {
  return `${path}.json`;
}

function isOfState(manifest: Manifest, { size, mtime }: FileState): boolean {
  return manifest.bytes === size && manifest.modifiedMs === mtime.getTime();
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
