/**
 * The thread that owns PGlite. PGlite computes on the thread that calls it, so it would block every
 * service otherwise. The two sides exchange the PostgreSQL wire protocol in whole messages.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';

/** What the thread is started with. */
export interface ThreadSettings {
  readonly clusterFolder: string;
  /** Memory for pages of tables and indexes; all of it is taken at the start. */
  readonly cacheMegabytes: number;
}

/** What the main side posts: bytes of the protocol, or the wish to end. */
export type ThreadRequest =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'close' };

/** What the thread posts: that PGlite is open, then bytes of the protocol. */
export type ThreadReply =
  | { readonly kind: 'ready' }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array };

/** Results are posted in pieces of about this size, so that a large one is never held twice. */
const pieceBytes = 256 * 1024;

if (parentPort) serve(parentPort, await open(workerData as ThreadSettings));

type Port = NonNullable<typeof parentPort>;

function open({ clusterFolder, cacheMegabytes }: ThreadSettings): Promise<PGlite> {
  const cache = ['-c', `shared_buffers=${cacheMegabytes}MB`];
  return PGlite.create(clusterFolder, { startParams: [...PGlite.defaultStartParams, ...cache] });
}

function serve(port: Port, database: PGlite): void {
  let last: Promise<void> = Promise.resolve();
  port.on('message', (request: ThreadRequest) => {
    // What throws here ends the thread; the main side then fails every waiting statement.
    last = last.then(() => answer(request, { port, database }));
  });
  port.postMessage({ kind: 'ready' } satisfies ThreadReply);
}

async function answer(
  request: ThreadRequest,
  { port, database }: { readonly port: Port; readonly database: PGlite },
): Promise<void> {
  if (request.kind === 'close') {
    await database.close();
    port.close();
    return;
  }
  const pieces = new Pieces(port);
  await database.execProtocolRawStream(request.bytes, { onRawData: (part) => pieces.add(part) });
  pieces.post();
}

/** Collects PGlite's 8 KiB writes, which lie in its own memory and are overwritten by the next. */
class Pieces {
  readonly #port: Port;
  #parts: Uint8Array[] = [];
  #size = 0;

  constructor(port: Port) {
    this.#port = port;
  }

  add(part: Uint8Array): void {
    this.#parts.push(part.slice());
    this.#size += part.length;
    if (this.#size >= pieceBytes) this.post();
  }

  post(): void {
    if (this.#size === 0) return;
    const bytes = joinBytes(this.#parts, this.#size);
    this.#parts = [];
    this.#size = 0;
    this.#port.postMessage({ kind: 'bytes', bytes } satisfies ThreadReply, [bytes.buffer]);
  }
}

// Not Buffer.concat: its small results share one pool, which must not be transferred.
function joinBytes(parts: readonly Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(size);
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}
