import type { Egress } from '../../kit/egress/egress.ts';
import type { Handler } from '../../kit/http/call.ts';
import type { Directory } from '../connections/connection.ts';
import type { CmsSyncs } from '../exchange/cms/cms-sync.ts';
import type { PastSync } from '../exchange/cms/cms-store.ts';
import {
  toClientConfig,
  toExport,
  toOwnClientConfig,
  toOwnExport,
} from '../exchange/export-formats.ts';
import { readDocument } from '../exchange/import-documents.ts';
import { importCandidates } from '../exchange/importing.ts';
import { readRegistry } from '../exchange/registry-api.ts';
import type { Registrar } from '../exchange/registrar.ts';
import type { exchangeRoutes as routes } from '../schemas/exchange.ts';

type ExchangeHandlers = { readonly [K in keyof typeof routes]: Handler<(typeof routes)[K]> };

export interface ExchangeHandlerParts {
  readonly syncs: CmsSyncs;
  readonly directory: Pick<Directory, 'all' | 'findByName'>;
  /** A `checkedRegistrar`, as the syncs have it. */
  readonly registrar: Pick<Registrar, 'register' | 'check'>;
  readonly egress: Egress;
  /** Where this registry is reached, without a slash at the end. */
  readonly url: string;
}

/** The edge of what takes connections in and gives them away. */
export function exchangeHandlers(parts: ExchangeHandlerParts): ExchangeHandlers {
  const { syncs, directory, egress, url } = parts;
  return {
    syncCms: async ({ body, identity, signal }) => {
      const { conflicts, errors, changes, ...result } = await syncs.sync(body, identity, signal);
      return {
        ...result,
        conflicts: [...conflicts],
        errors: [...errors],
        changes: changes.map(({ fields, ...change }) => ({
          ...change,
          ...(fields ? { fields: [...fields] } : {}),
        })),
      };
    },
    listCmsSyncs: async ({ query }) => {
      const { limit, offset } = query;
      const { syncs: found, total } = await syncs.list(query);
      return { syncs: found.map(toPastAnswer), total, limit, offset };
    },
    importConnections: ({ body, identity }) => {
      const { dryRun: isDryRun, prefix = '' } = body;
      const inputs = new Map(Object.entries(body.inputs ?? {}));
      const found = readDocument(body.document, { format: body.format, inputs });
      const { format, candidates } = found;
      return importCandidates(parts, candidates, { format, identity, isDryRun, prefix });
    },
    importFromRegistry: async ({ body, identity, signal }) => {
      const { search, limit, dryRun: isDryRun, prefix = '' } = body;
      const inputs = new Map(Object.entries(body.inputs ?? {}));
      const listed = await readRegistry(egress, { url: body.url, search, limit, signal });
      const found = readDocument(listed, { format: 'server.json', inputs });
      const { format, candidates } = found;
      return importCandidates(parts, candidates, { format, identity, isDryRun, prefix });
    },
    exportConnections: ({ query: { format = 'ennead', via } }) => {
      const connections = directory.all();
      const endpointUrl = `${url}/mcp`;
      if (format === 'ennead') {
        return via ? toOwnExport(connections, endpointUrl) : toExport(connections);
      }
      return Response.json(
        via ? toOwnClientConfig(endpointUrl, format) : toClientConfig(connections, format),
      );
    },
  };
}

function toPastAnswer({ syncId, cms, result, startedAt, endedAt, ...rest }: PastSync) {
  const { direction, isDryRun: dryRun, status, startedBy } = rest;
  const { created = 0, updated = 0, removed = 0, conflicts = [], errors = [] } = result;
  return {
    syncId,
    cmsEndpoint: cms,
    direction,
    dryRun,
    status,
    startedBy,
    startedAt: startedAt.toISOString(),
    endedAt: endedAt?.toISOString() ?? null,
    created,
    updated,
    removed,
    conflicts: conflicts.length,
    errors: errors.length,
  };
}
