import { setTimeout as sleep } from 'node:timers/promises';
import { Fault } from '../../../kit/errors.ts';
import type { PartFile } from './part-file.ts';
import type { RemoteFile } from './plan.ts';
import { connectionFault, refusal, type PullWeb, type WebAnswer } from './web.ts';

export interface Patience {
  /** Failures in a row that end the pull, none of which got further than it had been before. */
  readonly attemptsMax: number;
  /** Before the first repetition; doubles up to thirty times that. */
  readonly delayMs: number;
}

export interface DownloadOptions {
  readonly web: PullWeb;
  readonly patience: Patience;
  readonly signal: AbortSignal;
  /** Without a total where the source does not say how much comes. */
  readonly onProgress: (completed: number, total: number | undefined) => void;
  /** A failure after which it is tried once more, so many milliseconds later. */
  readonly onRetry: (fault: Fault, delayMs: number) => void;
}

/**
 * Fetches what a part lacks of its file, as often as connections break. Afterwards the part has all
 * bytes; whether they are the right ones is for its digest to say.
 */
export async function download(
  remote: RemoteFile,
  part: PartFile,
  options: DownloadOptions,
): Promise<void> {
  const { attemptsMax, delayMs } = options.patience;
  // A part that is begun anew gets no further by what it had already.
  let furthest = part.bytes;
  for (let failures = 0; ;) {
    try {
      return await fetchRest(remote, part, options);
    } catch (error) {
      const fault = connectionFault(error, remote.url, options.signal);
      failures = part.bytes > furthest ? 1 : failures + 1;
      furthest = Math.max(furthest, part.bytes);
      const limit = isUnreachable(fault) ? unreachableAttemptsMax : attemptsMax;
      if (!isPassing(fault) || failures >= Math.min(limit, attemptsMax)) throw fault;
      const delay = Math.max(askedMsOf(fault), delayMs * Math.min(2 ** (failures - 1), 30));
      options.onRetry(fault, delay);
      await sleep(delay, undefined, { signal: options.signal }).catch(() => {});
    }
  }
}

/** Longer than that nobody who watches a pull is made to wait. */
const askedMsMax = 60_000;

/** How long the source asks to be left in peace. */
function askedMsOf({ retryAfter = 0 }: Fault): number {
  return Math.min(retryAfter * 1_000, askedMsMax);
}

/** With the pauses between them, some seconds: whoever is not there now rarely comes back. */
const unreachableAttemptsMax = 3;

/** Nobody listens there, or the name has no address. */
function isUnreachable({ cause }: Fault): boolean {
  const { code = '' } = cause instanceof Error ? (cause as NodeJS.ErrnoException) : {};
  return code === 'ECONNREFUSED' || code === 'ENOTFOUND';
}

async function fetchRest(
  remote: RemoteFile,
  part: PartFile,
  options: DownloadOptions,
): Promise<void> {
  const { web, signal, onProgress } = options;
  if (remote.bytes === 0) throw brokenPromise('no bytes');
  if (remote.bytes !== undefined && part.bytes === remote.bytes) return;
  if (isUseless(remote, part)) await part.clear();
  const { secretHeaders } = remote;
  const answer = await web.open(remote.url, { headers: rangeOf(part), secretHeaders, signal });
  try {
    const total = await accept(answer, remote, part);
    if (total === part.bytes) return;
    if (total !== undefined) await part.requireSpace(total - part.bytes);
    await part.remember({
      url: remote.url,
      digest: remote.digest ?? null,
      etag: strongTag(answer.headers) ?? null,
    });
    onProgress(part.bytes, total);
    await receive(answer, part, { total, onProgress });
  } finally {
    answer.body.destroy();
  }
}

interface Receipt extends Pick<DownloadOptions, 'onProgress'> {
  readonly total: number | undefined;
}

async function receive(
  { body }: WebAnswer,
  part: PartFile,
  { total, onProgress }: Receipt,
): Promise<void> {
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    if (part.bytes + chunk.length > (total ?? Infinity)) {
      throw brokenPromise('more bytes than it announced');
    }
    await append(chunk, part, total);
    onProgress(part.bytes, total);
  }
  if (part.bytes < (total ?? 1)) throw cut();
}

/** What has no announced end must not keep a disk full when nothing can go on with it. */
async function append(chunk: Uint8Array, part: PartFile, total: number | undefined): Promise<void> {
  try {
    await part.append(chunk);
  } catch (error) {
    if (total === undefined && part.etag === undefined) await part.clear();
    throw error;
  }
}

/** A part that nothing binds to the content, or that is longer than it, cannot be gone on with. */
function isUseless(remote: RemoteFile, part: PartFile): boolean {
  const isUnbound = remote.digest === undefined && part.etag === undefined;
  return part.bytes > 0 && (isUnbound || part.bytes > (remote.bytes ?? Infinity));
}

function rangeOf(part: PartFile): Record<string, string> {
  if (part.bytes === 0) return {};
  const range = { range: `bytes=${part.bytes}-` };
  return part.etag === undefined ? range : { ...range, 'if-range': part.etag };
}

/**
 * Answers the size of the whole file, where anybody says it; the part is empty when the answer begins
 * at its beginning.
 */
async function accept(
  answer: WebAnswer,
  remote: RemoteFile,
  part: PartFile,
): Promise<number | undefined> {
  const { status, headers } = answer;
  if ((headers.get('content-encoding') ?? 'identity') !== 'identity') {
    throw brokenPromise('an encoding that was not asked for');
  }
  if (status === 200) {
    if (part.bytes > 0) await part.clear();
    const length = headers.get('content-length');
    return length === null ? remote.bytes : checkTotal(Number(length), remote);
  }
  if (status === 206) return checkTotal(await acceptRange(headers, part), remote);
  if (status !== 416) throw refusal(remote.url, answer);
  await part.clear();
  throw cut();
}

async function acceptRange(headers: Headers, part: PartFile): Promise<number> {
  const [, start, total] =
    /^bytes (\d+)-\d+\/(\d+)$/.exec(headers.get('content-range') ?? '') ?? [];
  if (start !== undefined && Number(start) === part.bytes) return Number(total);
  await part.clear();
  throw cut();
}

function checkTotal(total: number, remote: RemoteFile): number {
  if (!Number.isSafeInteger(total) || total < 1) throw brokenPromise('no bytes');
  if (remote.bytes === undefined || remote.bytes === total) return total;
  throw brokenPromise(`${total} instead of ${remote.bytes} bytes`);
}

function strongTag(headers: Headers): string | undefined {
  const tag = headers.get('etag');
  return tag !== null && /^"[^"]*"$/.test(tag) ? tag : undefined;
}

function cut(): Fault {
  return new Fault('upstream', 'the download was cut', { reason: 'pull_cut' });
}

function brokenPromise(what: string): Fault {
  return new Fault('upstream', `the source sends ${what}`, { reason: 'bad_source' });
}

/** Whatever the network does may pass; what the source or the disk says stays. */
function isPassing(fault: Fault): boolean {
  return fault.reason === 'pull_cut';
}
