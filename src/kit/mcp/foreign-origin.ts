import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { Fault } from '../errors.ts';

/**
 * Refuses what a page of another site sends, also one whose name was bound to our address after it
 * was loaded (DNS rebinding; MCP 2025-11-25, Streamable HTTP, security warning). `Host` must be the
 * name in `ownUrl`, an IP address or this machine; `Origin`, where there is one, the name in `ownUrl`
 * or this machine.
 */
export function refuseForeign({ host, origin }: IncomingHttpHeaders, ownUrl: string): void {
  const own = new URL(ownUrl).hostname;
  const hostName = hostnameOf(`http://${host ?? ''}`);
  if (hostName !== own && !isThisMachine(hostName) && !isAddress(hostName)) {
    throw new Fault('forbidden', 'this server is not known by the name in the Host header', {
      reason: 'host_refused',
    });
  }
  if (origin === undefined) return;
  const originName = hostnameOf(origin);
  if (originName === own || isThisMachine(originName)) return;
  throw new Fault('forbidden', 'pages of other sites may not call this server', {
    reason: 'origin_refused',
  });
}

function hostnameOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : '';
}

function isThisMachine(name: string): boolean {
  return name === 'localhost' || name === '[::1]' || /^127(?:\.\d+){3}$/.test(name);
}

/** No name can be bound anew that is an address. */
function isAddress(name: string): boolean {
  return isIP(name.replace(/^\[|\]$/g, '')) > 0;
}
