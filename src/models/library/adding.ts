import { copyFile, link, lstat, open, rename, rm, stat, symlink } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { basename, dirname, join, resolve } from 'node:path';
import { Fault } from '../../kit/errors.ts';
import { guardDisk, requireSpace } from './disk-space.ts';
import { readGgufHeader } from './gguf/gguf-header.ts';
import { manifestPath, writeManifest } from './manifest.ts';
import { digestOfModel, statModel } from './model-files.ts';
import { fileNameOf, nameOfFile, parseModelName } from './model-name.ts';
import { pathsOfParts, splitPath } from './split-files.ts';

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

/** Where the files of a model come to stand. */
export interface Destination {
  /** Of the model when it is one file. */
  readonly path: string;
  /** Whether what stands there may be lost; else Fault `conflict` for what is there. */
  readonly isReplacing: boolean;
}

/**
 * Moves the complete files of a model to their places, once they and then their names are safe on
 * the disk. A model in several files is not there between the first move and the last.
 */
export async function installFiles(
  files: readonly string[],
  { path, isReplacing }: Destination,
  origin: Origin,
): Promise<void> {
  const [first = ''] = files;
  await readGgufHeader(first, files);
  for (const file of files) await sync(file);
  const moves = splitPath(path, files.length).map((place, i) => ({ file: files[i] ?? '', place }));
  const [start, ...later] = moves;
  if (!start) return;
  // The first file is what a model is seen by: it goes first and comes last.
  if (isReplacing && later.length > 0) await rm(start.place, { force: true });
  const move = isReplacing ? replaceAll : placeAll;
  await move([...later, start]).catch(refuseSecond(origin.name));
  await sync(dirname(path));
  await describe(start.place, origin);
}

interface Move {
  readonly file: string;
  readonly place: string;
}

async function replaceAll(moves: readonly Move[]): Promise<void> {
  for (const { file, place } of moves) await rename(file, place);
}

/** Fails with EEXIST, and nothing has changed, when there is a file at one of the places. */
async function placeAll(moves: readonly Move[]): Promise<void> {
  const placed: string[] = [];
  try {
    for (const { file, place } of moves) {
      await linkOrRename(file, place);
      placed.push(place);
    }
  } catch (error) {
    for (const place of placed) await rm(place);
    throw error;
  }
  for (const { file } of moves) await rm(file, { force: true });
}

async function linkOrRename(file: string, place: string): Promise<void> {
  try {
    await link(file, place);
  } catch (error) {
    if (!isOtherFileSystem(error)) throw error;
    if (await isTaken(place)) throw Object.assign(new Error('taken'), { code: 'EEXIST' });
    await rename(file, place);
  }
}

async function isTaken(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

/**
 * Brings the files of a model of this machine into the folder and answers its name: as hard links
 * where the file system can, else as copies. A failure leaves nothing behind. Faults: `not_found`,
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
  const files = pathsOfParts(file);
  const places = splitPath(join(folder, fileNameOf(wanted)), files.length);
  const [path = ''] = places;
  const brought: string[] = [];
  try {
    for (const [i, place] of [...places.entries()].toReversed()) {
      const bringing = bring(files[i] ?? '', place, isReference).catch(refuseSecond(wanted));
      await guardDisk(bringing, { folder, needed: bytes });
      brought.push(place);
    }
    const digest = await digestOfModel(path);
    const describing = describe(path, { name: wanted, source: file, digest });
    await guardDisk(describing, { folder, needed: manifestBytesMax });
  } catch (error) {
    const isWhole = brought.length === places.length;
    for (const one of isWhole ? [...brought, manifestPath(path)] : brought) {
      await rm(one, { force: true });
    }
    throw error;
  }
  return wanted;
}

function refuseSecond(name: string) {
  return (error: NodeJS.ErrnoException): never => {
    if (error.code !== 'EEXIST') throw error;
    throw modelExists(name);
  };
}

/** The refusal of a name that another model has. */
export function modelExists(name: string): Fault {
  return new Fault('conflict', `there is a model ${name} already`, { reason: 'model_exists' });
}

/** The most that a disk gives a manifest: a block. */
const manifestBytesMax = 4096;

/** Answers the size of all files of the model. */
async function checkModel(file: string): Promise<number> {
  const state = await statModel(file).catch(() => undefined);
  if (!state) throw new Fault('not_found', `there is no file ${file}`);
  if (!state.isFile) throw new Fault('invalid', `${file} is no file`);
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
  const { size, mtime } = await statModel(path);
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
