import { copyFile, link, open, rename, rm, stat, symlink } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { basename, dirname, join, resolve } from 'node:path';
import { Fault } from '../../kit/errors.ts';
import { guardDisk, requireSpace } from './disk-space.ts';
import { digestOf } from './file-digest.ts';
import { readGgufHeader } from './gguf/gguf-header.ts';
import { manifestPath, writeManifest } from './manifest.ts';
import { fileNameOf, nameOfFile, parseModelName } from './model-name.ts';

/** What a manifest says of a file beyond its state. */
export interface Origin {
  readonly name: string;
  /** Address or path. */
  readonly source: string;
  /** SHA-256 in hex. */
  readonly digest: string;
  readonly licence?: string | undefined;
}

export interface AddOptions {
  /** The file's name without `.gguf` when absent. */
  readonly name?: string | undefined;
  /** Only points to where the file stays, instead of a hard link or a copy. */
  readonly isReference?: boolean;
}

/** Renames a complete file to its place, once it and then its name are safe on the disk. */
export async function installFile(file: string, path: string, origin: Origin): Promise<void> {
  await readGgufHeader(file);
  await sync(file);
  await rename(file, path);
  await sync(dirname(path));
  await describe(path, origin);
}

/**
 * Brings a file of this machine into the folder and answers the model's name: as a hard link where
 * the file system can, else as a copy. A failure leaves nothing behind. Faults: `not_found`,
 * `invalid` (no model), `conflict`, `unavailable` (`disk_full`).
 */
export async function addFile(
  source: string,
  folder: string,
  { name, isReference = false }: AddOptions,
): Promise<string> {
  const file = resolve(source);
  const wanted = parseModelName(name ?? nameOfFile(basename(file)) ?? '');
  const bytes = await checkModel(file);
  const path = join(folder, fileNameOf(wanted));
  const bringing = bring(file, path, isReference).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
    throw new Fault('conflict', `there is a model ${wanted} already`, { reason: 'model_exists' });
  });
  await guardDisk(bringing, { folder, needed: bytes });
  try {
    const digest = await digestOf(path);
    const describing = describe(path, { name: wanted, source: file, digest });
    await guardDisk(describing, { folder, needed: manifestBytesMax });
  } catch (error) {
    for (const one of [path, manifestPath(path)]) await rm(one, { force: true });
    throw error;
  }
  return wanted;
}

/** The most that a disk gives a manifest: a block. */
const manifestBytesMax = 4096;

/** Answers the file's size. */
async function checkModel(file: string): Promise<number> {
  const state = await stat(file).catch(() => undefined);
  if (!state) throw new Fault('not_found', `there is no file ${file}`);
  if (!state.isFile()) throw new Fault('invalid', `${file} is no file`);
  await readGgufHeader(file);
  return state.size;
}

/** Fails with EEXIST when there is a file; nobody sees half a copy. */
async function bring(file: string, path: string, isReference: boolean): Promise<void> {
  if (isReference) return symlink(file, path);
  try {
    await link(file, path);
  } catch (error) {
    if (!isOtherFileSystem(error)) throw error;
    await requireSpace(dirname(path), (await stat(file)).size);
    const copy = `${path}.${randomUUID()}.part`;
    try {
      await copyFile(file, copy);
      await link(copy, path);
    } finally {
      await rm(copy, { force: true });
    }
  }
}

async function describe(path: string, { name, source, digest, licence }: Origin): Promise<void> {
  const { size, mtime } = await stat(path);
  await writeManifest(path, {
    name,
    source,
    digest,
    bytes: size,
    modifiedMs: mtime.getTime(),
    pulledAt: new Date().toISOString(),
    ...(licence === undefined ? {} : { licence }),
  });
}

async function sync(path: string): Promise<void> {
  const file = await open(path);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

function isOtherFileSystem(error: unknown): boolean {
  const { code = '' } = error as NodeJS.ErrnoException;
  return ['EXDEV', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK', 'ENOSYS'].includes(code);
}
