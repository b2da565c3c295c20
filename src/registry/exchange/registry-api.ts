import type { Egress } from '../../kit/egress/egress.ts';
import { Fault } from '../../kit/errors.ts';
import { listOf, recordOf, textOf } from './json-values.ts';

export interface RegistryQuery {
  readonly url: string;
  readonly search: string | undefined;
  readonly limit: number;
  readonly signal: AbortSignal;
}

const pageMax = 100;
const pagesMax = 20;
const pageBytesMax = 4 * 1024 * 1024;

/**
 * Reads the latest versions that a registry with the official read API (v0.1) lists, as entries of
 * `server.json`. Faults: `upstream`, `deadline`, `forbidden` (`egress_blocked`).
 */
export async function readRegistry(egress: Egress, query: RegistryQuery): Promise<unknown[]> {
  const { url, search, limit, signal } = query;
  const base = `${url.replace(/\/+$/, '')}/v0.1/servers`;
  const found: unknown[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < pagesMax && found.length < limit; page++) {
    const parameters = new URLSearchParams({
      version: 'latest',
      limit: String(Math.min(pageMax, limit - found.length)),
      ...(search === undefined ? {} : { search }),
      ...(cursor === undefined ? {} : { cursor }),
    });
    const answer = await egress.fetch(`${base}?${parameters.toString()}`, {
      headers: { accept: 'application/json' },
      responseBytesMax: pageBytesMax,
      signal,
    });
    if (answer.status !== 200) {
      throw new Fault('upstream', `the registry answers ${answer.status}`);
    }
    const body = recordOf(answer.json());
    const servers = listOf(body['servers']);
    found.push(...servers.filter(isCurrent));
    cursor = textOf(recordOf(body['metadata'])['nextCursor']);
    if (cursor === undefined || servers.length === 0) break;
  }
  return found.slice(0, limit);
}

/** Neither withdrawn nor advised against. */
function isCurrent(entry: unknown): boolean {
  const meta = recordOf(recordOf(entry)['_meta']);
  const official = recordOf(meta['io.modelcontextprotocol.registry/official']);
  return !['deprecated', 'deleted'].includes(String(official['status']));
}
