import type { FastifyRequest } from 'fastify';
import { Fault } from '../kit/errors.ts';
import { isSameOrigin } from '../kit/http/credential.ts';

/** Browsers send cookies whoever asks them to, and a login by a stranger's page is one too. */
export function requireOwnPage(call: FastifyRequest): void {
  const { origin, 'sec-fetch-site': site } = call.headers;
  const isBrowser = origin !== undefined || site !== undefined;
  if (!isBrowser || isSameOrigin(call)) return;
  throw new Fault('forbidden', 'the console is asked from its own pages only', {
    reason: 'origin_refused',
  });
}

/** As the browser sees it: before the console may stand a proxy that ends TLS. */
export function isOverTls({ headers: { origin = '' } }: FastifyRequest): boolean {
  return origin.startsWith('https:');
}
