import { dirname } from 'node:path';
import type { ModelLibrary } from '../library.ts';
import { Fault } from '../../../kit/errors.ts';
import { guardDisk } from '../disk-space.ts';
import { isSameName } from '../model-name.ts';
import { download, type DownloadOptions } from './download.ts';
import { PartFile, partPath, removePart } from './part-file.ts';
import type { PullPlan } from './plan.ts';
import type { PullProgress } from './puller.ts';

export interface FetchOptions extends Omit<DownloadOptions, 'onProgress' | 'onRetry'> {
  readonly library: ModelLibrary;
  readonly publish: (progress: PullProgress) => void;
}

const progressPauseMs = 100;
const shownDigestLength = 12;

/** Fetches the file of a plan and installs it; nothing happens when the same is installed already. */
export async function fetchModel(plan: PullPlan, options: FetchOptions): Promise<void> {
  const { library, publish, signal } = options;
  await library.requireFree(plan.name);
  if (await isInstalled(plan, library)) return;
  const path = partPath(library.pathOf(plan.name));
  const digest = await fetchChecked(path, plan, options);
  publish({ status: 'writing manifest' });
  signal.throwIfAborted();
  const { name, licence } = plan;
  const source = withoutQuery(plan.url);
  await installPart(path, () => library.install(path, { name, source, digest, licence }));
}

/** Fault `conflict` for a model of that name that was not pulled: nobody asked to lose it. */
async function isInstalled(plan: PullPlan, library: ModelLibrary): Promise<boolean> {
  const models = await library.list();
  const present = models.find((model) => isSameName(model.name, plan.name) && !model.isBuiltIn);
  if (!present) return false;
  if (plan.digest !== undefined && (await library.digestOf(present)) === plan.digest) return true;
  if (/^https?:/.test(present.source ?? '')) return false;
  const message = `there is another model ${present.name} that was not pulled; delete it first`;
  throw new Fault('conflict', message, { reason: 'model_exists' });
}

/**
 * Answers the digest of the complete part. Wrong bytes may come of an old part, so they are fetched
 * once more from the beginning.
 */
async function fetchChecked(path: string, plan: PullPlan, options: FetchOptions): Promise<string> {
  const { publish, signal } = options;
  const { url, digest: wanted = null } = plan;
  await using part = await PartFile.open(path, { url, digest: wanted }, signal);
  const isResumed = part.bytes > 0;
  const reports = { onProgress: reportTo(publish, plan), onRetry: reportRetryTo(publish) };
  await download(plan, part, { ...options, ...reports });
  publish({ status: 'verifying sha256 digest' });
  if (wanted === null || part.digest() === wanted) return part.digest();
  await part.clear();
  if (isResumed) {
    await download(plan, part, { ...options, ...reports });
    if (part.digest() === wanted) return wanted;
  }
  await part.remove();
  throw new Fault('upstream', 'the source sends other bytes than its digest says', {
    reason: 'digest_mismatch',
    detail: { expected: wanted },
  });
}

function reportTo(publish: FetchOptions['publish'], { digest, name }: PullPlan) {
  const status = `pulling ${digest?.slice(0, shownDigestLength) ?? name}`;
  const named = digest === undefined ? {} : { digest: `sha256:${digest}` };
  let reportedAt = 0;
  return (completed: number, total: number | undefined): void => {
    const now = performance.now();
    if (completed !== total && now - reportedAt < progressPauseMs) return;
    reportedAt = now;
    publish({ status, ...named, ...(total === undefined ? {} : { total }), completed });
  };
}

function reportRetryTo(publish: FetchOptions['publish']) {
  return ({ message }: Fault, delayMs: number): void =>
    publish({ status: `${message}: trying again in ${Math.ceil(delayMs / 1000)} s` });
}

/** A query may hold a signature that nobody else should have. */
function withoutQuery(url: string): string {
  return url.replace(/\?.*$/, '');
}

/** All that is left to write then is the manifest, a block at most. */
const manifestBytesMax = 4096;

/** A complete file that is no model will be none the next time either. */
async function installPart(path: string, install: () => Promise<unknown>): Promise<void> {
  try {
    await guardDisk(install(), { folder: dirname(path), needed: manifestBytesMax });
    await removePart(path);
  } catch (error) {
    if (error instanceof Fault && error.code === 'invalid') await removePart(path);
    throw error;
  }
}
