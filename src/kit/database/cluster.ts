import { randomUUID } from 'node:crypto';
import { constants, readFileSync } from 'node:fs';
import {
  access,
  chmod,
  cp,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
} from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, sep } from 'node:path';
import { Fault } from '../errors.ts';
import { startProcess } from '../entry-file.ts';

/** The PostgreSQL major version inside the PGlite that this code was written for. */
export const clusterMajor = '18';

/**
 * Makes sure that an initialised, empty cluster lies in the cache and returns its folder; undefined
 * where a read-only system has no place for a cache. Creating it takes 2-4 s and 0.9 GB in a child
 * process; later calls find it. Safe in many processes at once.
 */
export async function prepareClusterCache(
  onProgress?: (step: string) => void,
): Promise<string | undefined> {
  const { packageFolder, modulesFolder } = locatePglite();
  const name = `pgdata-${readVersion(packageFolder)}`;
  const shared = join(modulesFolder, '.cache', 'ennead');
  if (await isReadable(join(shared, name))) return join(shared, name);
  const isFree = !(await exists(join(shared, name))) && (await isWritable(shared));
  const parent = isFree ? shared : await makeTemporaryParent();
  if (parent === undefined) return undefined;
  const folder = join(parent, name);
  if (await exists(folder)) return folder;
  onProgress?.('creating the embedded database');
  await initialiseInto(folder);
  return folder;
}

/**
 * Returns the cluster folder in `folder`, made when there is none yet: a copy of the cache. The caller
 * holds the lock of `folder`. A cluster of another PostgreSQL version is refused.
 */
export async function ensureCluster(folder: string): Promise<string> {
  const cluster = join(folder, 'pgdata');
  if (!(await exists(cluster))) await createAt(cluster);
  const major = await readMajor(cluster);
  if (major === clusterMajor) return cluster;
  const found = major === undefined ? 'holds no database' : `is of PostgreSQL ${major}`;
  throw new Fault('conflict', `the folder ${cluster} ${found}; version ${clusterMajor} is needed`);
}

async function createAt(cluster: string): Promise<void> {
  const source = await prepareClusterCache();
  const partial = `${cluster}.partial`;
  await rm(partial, { recursive: true, force: true });
  if (source === undefined) await runInitialiser(partial);
  else await cp(source, partial, { recursive: true, mode: constants.COPYFILE_FICLONE });
  await chmod(partial, 0o700);
  await rename(partial, cluster);
}

async function initialiseInto(folder: string): Promise<void> {
  const partial = `${folder}.${randomUUID()}`;
  try {
    await runInitialiser(partial);
    await rename(partial, folder);
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    // Another process was first, which is as good.
    if (!(await exists(folder))) throw error;
  }
}

function runInitialiser(folder: string): Promise<void> {
  const child = startProcess({ beside: import.meta.url, name: 'cluster-initialiser' }, [folder]);
  let complaint = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(-4000);
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === 0) return resolve();
      const message = `the embedded database could not be initialised (${signal ?? `exit ${code}`})`;
      reject(new Fault('unavailable', message, { cause: new Error(complaint) }));
    });
  });
}

function locatePglite(): { readonly packageFolder: string; readonly modulesFolder: string } {
  const entry = createRequire(import.meta.url).resolve('@electric-sql/pglite');
  const modules = `${sep}node_modules${sep}`;
  const end = entry.lastIndexOf(modules) + modules.length - 1;
  return { packageFolder: dirname(dirname(entry)), modulesFolder: entry.slice(0, end) };
}

function readVersion(packageFolder: string): string {
  const text = readFileSync(join(packageFolder, 'package.json'), 'utf8');
  const { version } = JSON.parse(text) as { version: string }; // every npm package has one
  return version;
}

/** False where there is none, and where another user has made it, to whom some of its files are private. */
async function isReadable(cluster: string): Promise<boolean> {
  try {
    const names = await readdir(cluster, { recursive: true });
    await Promise.all(names.map((name) => access(join(cluster, name), constants.R_OK)));
    return true;
  } catch {
    return false;
  }
}

async function isWritable(folder: string): Promise<boolean> {
  const probe = join(folder, `probe-${randomUUID()}`);
  try {
    await mkdir(probe, { recursive: true });
    await rm(probe, { recursive: true });
    return true;
  } catch {
    return false;
  }
}

/** A folder in the temporary one that is surely ours, as another user could have put one there; undefined where nothing can be written. */
async function makeTemporaryParent(): Promise<string | undefined> {
  const owner = process.getuid?.();
  const folder = join(tmpdir(), `ennead-${owner ?? 'cache'}`);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
  } catch {
    return undefined;
  }
  const entry = await lstat(folder);
  const isOurs = entry.isDirectory() && (owner === undefined || entry.uid === owner);
  if (isOurs) return folder;
  throw new Fault('unavailable', `the folder ${folder} belongs to another user; remove it`);
}

async function readMajor(cluster: string): Promise<string | undefined> {
  const text = await readFile(join(cluster, 'PG_VERSION'), 'utf8').catch(() => undefined);
  return text?.trim();
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
