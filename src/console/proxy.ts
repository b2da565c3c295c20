import { randomBytes } from 'node:crypto';
import proxy from '@fastify/http-proxy';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { ClientOptions } from 'ws';
import { Fault } from '../kit/errors.ts';
import { readCredential } from '../kit/http/credential.ts';

/** Where a service is reached from the console's own origin. */
export interface ProxiedService {
  readonly name: string;
  /** Without a slash at the end. */
  readonly url: string;
}

/** Longer than a model takes for its first word; a stream may be still for as long as that. */
const silenceMsMax = 300_000;

/**
 * Passes `/services/<name>/…` on to each service, sockets too, with the session's token in place of the
 * cookies. Answers are data: no browser runs what stands in one as a page of the console.
 */
export async function serveProxy(
  app: FastifyInstance,
  services: readonly ProxiedService[],
): Promise<void> {
  // Refused here, so that it is answered as the console answers.
  app.addHook('preHandler', async (request) => {
    credentialOf(request);
  });
  for (const { name, url } of services) {
    await app.register(proxy, {
      upstream: url,
      prefix: `/services/${name}`,
      rewritePrefix: '/',
      websocket: true,
      undici: { headersTimeout: silenceMsMax, bodyTimeout: silenceMsMax },
      replyOptions: {
        rewriteRequestHeaders: (request, headers) => ({
          ...unsampledRead(request),
          ...passedOn(headers),
          ...credentialOf(request),
        }),
        rewriteHeaders: (headers) => ({ ...headers, ...harmless }),
        onError: (reply, { error }) => void reply.send(silenceOf(name, error)),
      },
      wsClientOptions: socketOptions,
    });
  }
}

/** Of several services behind one page, which it is that is away. */
function silenceOf(service: string, error: Error & { readonly statusCode?: number }): Error {
  const { statusCode = 500 } = error;
  if (statusCode < 500) return error;
  return new Fault('unavailable', `${service} does not answer`, { cause: error });
}

interface SocketOptions extends ClientOptions {
  readonly rewriteRequestHeaders: (headers: IncomingHttpHeaders, request: Asked) => object;
}

const socketOptions: SocketOptions = {
  rewriteRequestHeaders: (_headers, request) => credentialOf(request),
};

const harmless = {
  'content-security-policy': "default-src 'none'; sandbox",
  'x-content-type-options': 'nosniff',
};

/**
 * What goes on to a service: those check origins against their own address, and know nothing of the console's
 * cookies. Who waits to be asked for the body (`Expect`) has been, by the console.
 */
function passedOn({
  cookie: _cookie,
  origin: _origin,
  expect: _expect,
  ...headers
}: IncomingHttpHeaders): IncomingHttpHeaders {
  return headers;
}

/**
 * What the pages only read to show it leaves no trace (W3C Trace Context, `traceparent` without the flag
 * `sampled`): they ask every few seconds, and would fill the list of traces that they show.
 */
function unsampledRead({ method, headers }: Asked): { traceparent?: string } {
  if (method !== 'GET' || headers.authorization !== undefined) return {};
  const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  return { traceparent: `00-${traceId}-${spanId}-00` };
}

/** A request of HTTP/1.1: the console speaks nothing else. */
type Asked = Pick<FastifyRequest, 'headers' | 'method'> & { readonly raw: object };

/** What the caller shows, as a header; nothing for those who show nothing. Fault `forbidden` for a foreign page. */
function credentialOf({ headers, raw }: Asked): { authorization?: string } {
  const { authorization, cookie, 'x-api-key': key } = headers;
  if (authorization !== undefined) return { authorization };
  if (key !== undefined || !/(?:^|;\s*)session=./.test(cookie ?? '')) return {};
  const token = readCredential(raw as IncomingMessage, {
    acceptsSessionCookie: true,
    acceptsQueryToken: false,
  });
  return { authorization: `Bearer ${token}` };
}
