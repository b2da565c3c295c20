import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createEgress } from '../../kit/egress/egress.ts';
import { silentLog } from '../../kit/testing.ts';
import { writeRandomModel } from '../random-model/random-gguf.ts';
import { ModelLibrary } from './library.ts';
import { createPuller, type PullerOptions } from './pull/download-puller.ts';
import type { PullProgress } from './pull/puller.ts';

/** How the source answers for a path; the defaults are those of a good source. */
export interface SourceFile {
  readonly content: Buffer;
  readonly etag?: string;
  readonly hasRanges?: boolean;
  /** Answers whoever asks for a range that it is one, with all bytes in it. */
  readonly isMistaken?: boolean;
  /** Of each request in turn: after how many bytes the connection breaks. */
  readonly cuts?: (number | undefined)[];
  /** Breaks the connection only when what was sent has arrived in this file. */
  readonly part?: string;
  /** Of the first requests in turn: so many seconds later they may come again (503). */
  readonly busySeconds?: number[];
  /** Sends the first half, and the rest when this resolves. */
  readonly gate?: Promise<void>;
  readonly contentType?: string;
  /** The header that names the next page of a listing. */
  readonly link?: string;
  /** Does not say how much comes: the body is chunked. */
  readonly isSizeless?: boolean;
}

export interface SourceRequest {
  readonly path: string;
  readonly range: string | undefined;
  readonly authorization: string | undefined;
}

/** A real HTTP server on loopback that models are pulled from. */
export interface Source extends AsyncDisposable {
  readonly origin: string;
  readonly files: Map<string, SourceFile>;
  readonly redirects: Map<string, string>;
  readonly requests: SourceRequest[];
}

/** Resolves when the source listens on a free port. */
export async function startSource(): Promise<Source> {
  const files = new Map<string, SourceFile>();
  const redirects = new Map<string, string>();
  const requests: SourceRequest[] = [];
  const server = createServer((request, response) => {
    const { url = '', headers } = request;
    requests.push({ path: url, range: headers.range, authorization: headers.authorization });
    const path = url.replace(/\?.*/, '');
    const location = redirects.get(path);
    const file = files.get(path);
    if (location !== undefined) response.writeHead(302, { location }).end();
    else if (file) void sendFile(file, request, response);
    else response.writeHead(404).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A listening TCP server has an address object.
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    files,
    redirects,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function sendFile(
  file: SourceFile,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { content, cuts, gate } = file;
  const busySeconds = file.busySeconds?.shift();
  if (busySeconds !== undefined) {
    response.writeHead(503, { 'retry-after': String(busySeconds) }).end();
    return;
  }
  const { status, start, headers } = headOf(file, request);
  const body = content.subarray(start);
  response.writeHead(status, headers);
  const cut = cuts?.shift();
  if (cut !== undefined) {
    response.write(body.subarray(0, cut));
    await untilSize(file.part, start + cut);
    response.destroy();
    return;
  }
  if (gate) {
    const half = Math.floor(body.length / 2);
    response.write(body.subarray(0, half));
    await gate;
    response.end(body.subarray(half));
    return;
  }
  response.end(body);
}

function headOf(file: SourceFile, request: IncomingMessage) {
  const { content, etag, hasRanges = true, isMistaken = false } = file;
  const start = hasRanges && !isMistaken ? startOf(request, etag) : 0;
  const isRange = start > 0 || (isMistaken && request.headers.range !== undefined);
  const range = `bytes ${start}-${content.length - 1}/${content.length}`;
  const headers = {
    ...(file.isSizeless ? {} : { 'content-length': content.length - start }),
    ...describe(file),
    ...(isRange ? { 'content-range': range } : {}),
  };
  return { status: isRange ? 206 : 200, start, headers };
}

function describe({ contentType = 'application/octet-stream', etag, link }: SourceFile) {
  return {
    'content-type': contentType,
    ...(etag === undefined ? {} : { etag }),
    ...(link === undefined ? {} : { link }),
  };
}

async function untilSize(path: string | undefined, size: number): Promise<void> {
  if (path === undefined) return;
  while ((await stat(path).catch(() => undefined))?.size !== size) await sleep(2);
}

function startOf({ headers }: IncomingMessage, etag: string | undefined): number {
  const isOutdated = headers['if-range'] !== undefined && headers['if-range'] !== etag;
  const [, start = '0'] = /^bytes=(\d+)-$/.exec(headers.range ?? '') ?? [];
  return isOutdated ? 0 : Number(start);
}

export interface GroundOptions extends Partial<PullerOptions> {
  /** A new one, which goes away with the ground, when absent. */
  readonly folder?: string;
}

/** A library in a folder and a puller that trusts loopback. */
export async function openGround(options: GroundOptions = {}) {
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'ennead-library-')));
  const library = new ModelLibrary({ folder, log: silentLog });
  const egress = createEgress({ allow: [], isLoopbackAllowed: true });
  const patience = { attemptsMax: 3, delayMs: 1 };
  const wanted = { library, egress, allow: '127.0.0.1', patience, ...options };
  const puller = createPuller(wanted);
  return {
    folder,
    library,
    puller,
    /** Pulls to the end and answers every progress. */
    pull: (name: string) => collect(puller.pull(name, { signal: new AbortController().signal })),
    async [Symbol.asyncDispose]() {
      await puller[Symbol.asyncDispose]();
      await library[Symbol.asyncDispose]();
      await egress[Symbol.asyncDispose]();
      if (options.folder === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}

export async function collect(pull: AsyncIterable<PullProgress>): Promise<PullProgress[]> {
  const all: PullProgress[] = [];
  for await (const progress of pull) all.push(progress);
  return all;
}

/** The bytes of a sound small model. */
export async function readRandomModel(): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'ennead-random-'));
  const path = join(folder, 'random.gguf');
  await writeRandomModel(path);
  const bytes = await readFile(path);
  await rm(folder, { recursive: true });
  return bytes;
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** The size of the disk that `mountDisk` makes. */
export const diskBytes = 2 * 1024 * 1024;

/** A disk of 2 MiB in memory; nothing where this process may not mount one. */
export async function mountDisk() {
  const path = await mkdtemp(join(tmpdir(), 'ennead-disk-'));
  const mount = spawnSync('/bin/mount', ['-t', 'tmpfs', '-o', `size=${diskBytes}`, 'tmpfs', path]);
  if (mount.status !== 0) return null;
  const unmount = async () => {
    spawnSync('/bin/umount', [path]);
    await rm(path, { recursive: true });
  };
  return { path, [Symbol.asyncDispose]: unmount };
}
