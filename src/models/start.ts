import { Lifetime } from '../kit/lifecycle.ts';
import type { Host } from '../kit/service.ts';
import type { ModelsConfig } from './config.ts';
import { modelsContract } from './contract.ts';
import { openParts } from './parts.ts';
import { modelsHandlers } from './routes.ts';
import { createMcpEndpoint } from './tools/mcp.ts';

export async function start(host: Host<ModelsConfig>): Promise<AsyncDisposable> {
  const lifetime = new Lifetime(host.log);
  try {
    const parts = await openParts(host, lifetime);
    const mcp = createMcpEndpoint(parts.inference, host, modelsContract.version);
    lifetime.own('mcp', mcp);
    host.http.serve(modelsContract, modelsHandlers(parts, mcp));
    return lifetime;
  } catch (error) {
    await lifetime[Symbol.asyncDispose]();
    throw error;
  }
}
