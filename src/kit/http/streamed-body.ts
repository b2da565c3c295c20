import type { FastifyInstance } from 'fastify';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { Route } from '../contract.ts';
import { Fault } from '../errors.ts';

/** How long the sender of a streamed body may say nothing. */
const silenceMsMax = 30_000;

/** Adds routes whose bodies are left unread for their handlers; they are there once the app is ready. */
export function leavingBodies(
  app: FastifyInstance,
  addRoutes: (app: FastifyInstance) => void,
): void {
  app.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, parsed) => parsed(null, undefined));
    addRoutes(scope);
    done();
  });
}

/** What a streamed body may have at most, where its route bounds it. */
export function streamBytesMax({ bodyBytesMax = Number.MAX_SAFE_INTEGER }: Route): number {
  return bodyBytesMax;
}

/**
 * The body of a request piece by piece, as fast as it is read; fails when its sender leaves, says nothing for
 * 30 s, or sends more than so many bytes (`too_large`). The connection stays for the answer.
 */
export function readBody(request: IncomingMessage, bytesMax: number): Readable {
  return Readable.from(piecesOf(request, bytesMax), { objectMode: false });
}

async function* piecesOf(request: IncomingMessage, bytesMax: number): AsyncGenerator<Buffer> {
  requireSize(Number(request.headers['content-length'] ?? 0), bytesMax);
  const timer = setTimeout(() => request.destroy(tooSlow()), silenceMsMax).unref();
  let bytes = 0;
  try {
    for await (const piece of request.iterator({ destroyOnReturn: false })) {
      timer.refresh();
      // A request without an encoding gives Buffers.
      const buffer = piece as Buffer;
      bytes += buffer.length;
      requireSize(bytes, bytesMax);
      yield buffer;
    }
  } finally {
    clearTimeout(timer);
    // What is not wanted is let in for a while and thrown away, so that its sender reads why.
    if (!request.readableEnded && !request.destroyed) {
      boundBody(request, silenceMsMax);
      request.resume();
    }
  }
}

/** Ends a request whose body takes longer, where the server itself sets no bound to that. */
export function boundBody(request: IncomingMessage, timeoutMs: number): void {
  if (request.complete) return;
  const timer = setTimeout(() => request.destroy(tooSlow()), timeoutMs).unref();
  const end = () => clearTimeout(timer);
  request.once('end', end);
  request.once('close', end);
}

function requireSize(bytes: number, bytesMax: number): void {
  if (bytes <= bytesMax) return;
  throw new Fault('too_large', `the body may have at most ${bytesMax} bytes`, {
    reason: 'body_too_large',
    detail: { limit: bytesMax },
  });
}

function tooSlow(): Fault {
  return new Fault('invalid', 'the request came too slowly', {
    status: 408,
    reason: 'request_timeout',
  });
}
