import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { Fault } from '../errors.ts';
import { headerOf, type EdgeRequest } from './exchange.ts';
import type { FaultReply } from './fault-reply.ts';

/**
 * Answers in the service's own words what node:http would refuse without any: an `Expect` that nobody
 * knows (RFC 9110, section 10.1.1) and CONNECT (section 9.3.6), which only proxies take.
 */
export function refuseOddRequests(server: Server, faults: FaultReply): void {
  server.on('checkExpectation', ({ socket, url }: IncomingMessage, _response: ServerResponse) => {
    const fault = new Fault('invalid', 'the only expectation that is met is 100-continue', {
      status: 417,
      reason: 'expectation_failed',
    });
    faults.refuseUpgrade(fault, socket, { requestId: 'none', path: url ?? '' });
  });
  server.on('connect', ({ url }: IncomingMessage, socket: Duplex) => {
    const fault = new Fault('invalid', 'this is no proxy: CONNECT leads nowhere', {
      status: 405,
      reason: 'method_not_allowed',
      detail: { allow: '' },
    });
    faults.refuseUpgrade(fault, socket, { requestId: 'none', path: url ?? '' });
  });
}

/**
 * Refuses a request that names no host (RFC 9112, section 3.2), and U+0000 in its address: it stands in
 * none that means something, and PostgreSQL cannot store it.
 */
export function requireSound(request: EdgeRequest): void {
  if (request.url.includes('%00')) throw refusal('the address holds the character U+0000');
  if (headerOf(request, 'host') === undefined && request.raw.httpVersionMinor > 0) {
    throw refusal('the Host header is missing');
  }
}

function refusal(text: string): Fault {
  return new Fault('invalid', text, { reason: 'invalid_request' });
}
