import type { FastifyRequest } from 'fastify';
import { pathsOf, type Contract } from '../contract.ts';
import { Fault } from '../errors.ts';
import { builtInPaths } from './docs-page.ts';

/** The refusal of a path that no route took: 405 with `Allow` when only the method is wrong, else 404. */
export function noRouteFault(contract: Contract, request: FastifyRequest): Fault {
  const path = request.url.split('?')[0] ?? '/';
  const methods = methodsOf(contract, path);
  if (methods.length === 0)
    return new Fault('not_found', `there is nothing at ${request.method} ${path}`);
  const allow = methods.join(', ');
  return new Fault('not_found', `${path} takes ${allow}, not ${request.method}`, {
    reason: 'method_not_allowed',
    status: 405,
    detail: { allow },
  });
}

/** The refusal of a plain request to the path of a WebSocket (RFC 9110, section 15.5.22). */
export function upgradeFault({ url }: FastifyRequest): Fault {
  const path = url.split('?')[0] ?? '/';
  return new Fault('not_found', `${path} is a WebSocket: open it as one, with ws or wss`, {
    reason: 'upgrade_required',
    status: 426,
  });
}

function methodsOf(contract: Contract, path: string): string[] {
  const routes = Object.values(contract.routes);
  const matching = routes.filter((route) => pathsOf(route).some((url) => matches(url, path)));
  const methods = new Set<string>(matching.map(({ method }) => method));
  const isSocket = Object.values(contract.sockets ?? {}).some(({ url }) => matches(url, path));
  if (isSocket || builtInPaths.includes(path)) methods.add('GET');
  if (methods.has('GET')) methods.add('HEAD');
  return [...methods].toSorted();
}

function matches(url: string, path: string): boolean {
  const pattern = url.split('/');
  const parts = path.split('/');
  if (pattern.length !== parts.length) return false;
  return pattern.every((part, at) => part.startsWith(':') || part === parts[at]);
}
