import { stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { ModelLibrary } from '../library.ts';
import { Fault } from '../../../kit/errors.ts';
import { guardDisk, requireSpace } from '../disk-space.ts';
import { joinDigests } from '../model-files.ts';
import { isSameName, nameOfFile } from '../model-name.ts';
import { readPartName } from '../split-files.ts';
import { download, type DownloadOptions } from './download.ts';
import { partExtension, PartFile, partPath, removePart } from './part-file.ts';
import type { PullPlan, RemoteFile } from './plan.ts';
import type { PullProgress } from './puller.ts';
import { withoutQuery } from './reference.ts';

export interface FetchOptions extends Omit<DownloadOptions, 'onProgress' | 'onRetry'> {
  readonly library: ModelLibrary;
  readonly publish: (progress: PullProgress) => void;
}

const progressPauseMs = 100;
const shownDigestLength = 12;

/**
 * Fetches the files of a plan, one after the other, and installs them together; nothing happens when
 * the same are installed already.
 */
export async function fetchModel(plan: PullPlan, options: FetchOptions): Promise<void> {
  const { library, publish, signal } = options;
  const { name, files, licence } = plan;
  await library.requireFree(name);
  if (await isInstalled(plan, library)) return;
  const parts = library.placesOf(name, files.length).map(partPath);
  if (files.length > 1) await requireSpaceFor(parts, files);
  const digests: string[] = [];
  for (const [i, path] of parts.entries()) {
    const file = files[i];
    if (file) digests.push(await fetchChecked(path, file, options));
  }
  publish({ status: 'writing manifest' });
  signal.throwIfAborted();
  const source = withoutQuery(files[0]?.url ?? '');
  const digest = joinDigests(digests);
  await installParts(parts, () => library.install(parts, { name, source, digest, licence }));
}

/** Before the first of several files is fetched in vain. */
async function requireSpaceFor(
  parts: readonly string[],
  files: readonly RemoteFile[],
): Promise<void> {
  const states = await Promise.all(parts.map((path) => stat(path).catch(() => undefined)));
  const present = states.reduce((sum, state) => sum + (state?.size ?? 0), 0);
  const wanted = files.reduce((sum, { bytes = 0 }) => sum + bytes, 0);
  await requireSpace(dirname(parts[0] ?? ''), wanted - present);
}

/** Fault `conflict` for another model of that name that was not pulled. */
async function isInstalled(plan: PullPlan, library: ModelLibrary): Promise<boolean> {
  const models = await library.list();
  const present = models.find((model) => isSameName(model.name, plan.name) && !model.isBuiltIn);
  if (!present) return false;
  const digest = digestOf(plan);
  // A model that lacks a file has none.
  const presentDigest = digest && (await library.digestOf(present).catch(() => undefined));
  if (digest !== undefined && presentDigest === digest) return true;
  await library.findReplaceable(plan.name);
  return false;
}

/** Undefined when the source does not name that of every file. */
function digestOf({ files }: PullPlan): string | undefined {
  const digests = files.flatMap(({ digest }) => (digest === undefined ? [] : [digest]));
  return digests.length === files.length ? joinDigests(digests) : undefined;
}

/**
 * Answers the digest of the complete part. Wrong bytes may come of an old part, so they are fetched
 * once more from the beginning.
 */
async function fetchChecked(
  path: string,
  remote: RemoteFile,
  options: FetchOptions,
): Promise<string> {
  const { publish, signal } = options;
  const { url, digest: wanted = null } = remote;
  await using part = await PartFile.open(path, { url, digest: wanted }, signal);
  const isResumed = part.bytes > 0;
  const reports = { onProgress: reportTo(publish, remote, path), onRetry: reportRetryTo(publish) };
  await download(remote, part, { ...options, ...reports });
  publish({ status: 'verifying sha256 digest' });
  if (wanted === null || part.digest() === wanted) return part.digest();
  await part.clear();
  if (isResumed) {
    await download(remote, part, { ...options, ...reports });
    if (part.digest() === wanted) return wanted;
  }
  await part.remove();
  throw new Fault('upstream', 'the source sends other bytes than its digest says', {
    reason: 'digest_mismatch',
    detail: { expected: wanted },
  });
}

function reportTo(publish: FetchOptions['publish'], { digest }: RemoteFile, path: string) {
  const status = `pulling ${digest?.slice(0, shownDigestLength) ?? nameOfPart(path)}`;
  const named = digest === undefined ? {} : { digest: `sha256:${digest}` };
  let reportedAt = 0;
  return (completed: number, total: number | undefined): void => {
    const now = performance.now();
    if (completed !== total && now - reportedAt < progressPauseMs) return;
    reportedAt = now;
    publish({ status, ...named, ...(total === undefined ? {} : { total }), completed });
  };
}

/** The name of the file to come, as that of the model is written; of a split model with its number. */
function nameOfPart(path: string): string {
  const file = basename(path, partExtension);
  const part = readPartName(file);
  const name = nameOfFile(part ? `${part.stem}.gguf` : file) ?? file;
  return part ? `${name}, part ${part.number} of ${part.count}` : name;
}

function reportRetryTo(publish: FetchOptions['publish']) {
  return ({ message }: Fault, delayMs: number): void =>
    publish({ status: `${message}: trying again in ${Math.ceil(delayMs / 1000)} s` });
}

/** All that is left to write then is the manifest, a block at most. */
const manifestBytesMax = 4096;

/** Complete files that are no model will be none the next time either. */
async function installParts(
  parts: readonly string[],
  install: () => Promise<unknown>,
): Promise<void> {
  try {
    await guardDisk(install(), { folder: dirname(parts[0] ?? ''), needed: manifestBytesMax });
    for (const path of parts) await removePart(path);
  } catch (error) {
    if (error instanceof Fault && error.code === 'invalid') {
      for (const path of parts) await removePart(path);
    }
    throw error;
  }
}
