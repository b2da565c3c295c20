import type { Service } from '../kit/service.ts';
import { modelsContract } from '../models/contract.ts';
import { Completions } from './completions.ts';
import { gatewayContract } from './contract.ts';
import { gatewayEnvelope } from './envelope.ts';
import { LocalProvider } from './providers/local.ts';
import { gatewayRoutes } from './routes.ts';

/** The gateway takes chats to the models that answer them. */
export const gateway = {
  contract: gatewayContract,
  envelope: gatewayEnvelope,
  rate: { perMinute: 1000, burst: 1500 },
  settings: {},
  grants: [],
  start: async (host) => {
    const providers = [new LocalProvider(host.client(modelsContract))];
    host.http.serve(gatewayContract, gatewayRoutes(host, new Completions(providers), providers));
    return { [Symbol.asyncDispose]: async () => {} };
  },
} satisfies Service<typeof gatewayContract>;
