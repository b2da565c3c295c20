import { openTogether } from '../kit/lifecycle.ts';
import type { Host } from '../kit/service.ts';
import type { ModelsConfig } from './config.ts';
import { modelsContract } from './contract.ts';
import { openParts } from './parts.ts';
import { modelsHandlers } from './routes.ts';
import { createMcpEndpoint } from './tools/mcp.ts';

/** Starts the service; a start that fails ends what it had begun. */
export function start(host: Host<ModelsConfig>): Promise<AsyncDisposable> {
  return openTogether(host.log, async (lifetime) => {
    const parts = await openParts(host, lifetime);
    const mcp = createMcpEndpoint(parts.inference, host, modelsContract.version);
    lifetime.own('mcp', mcp);
    host.http.serve(modelsContract, modelsHandlers(parts, mcp));
    return parts;
  });
}
