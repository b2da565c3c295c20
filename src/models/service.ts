import { Lifetime } from '../kit/lifecycle.ts';
import type { Service } from '../kit/service.ts';
import { modelsSettings } from './config.ts';
import { modelsContract } from './contract.ts';
import { modelsEnvelope } from './envelope.ts';
import { openParts } from './parts.ts';
import { modelsHandlers } from './routes.ts';
import { createMcpEndpoint } from './tools/mcp.ts';

/** Models runs GGUF models in a child process of its own, and speaks for external runtimes. */
export const models = {
  contract: modelsContract,
  envelope: modelsEnvelope,
  rate: { perMinute: 1000, burst: 1500 },
  settings: modelsSettings,
  grants: [],
  start: async (host) => {
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
  },
} satisfies Service<typeof modelsContract, typeof modelsSettings>;
