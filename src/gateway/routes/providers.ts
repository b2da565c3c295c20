import type { Handler } from '../../kit/http/call.ts';
import type { Log } from '../../kit/log.ts';
import {
  describeSettings,
  describeStatus,
  type StatusSources,
} from '../providers/provider-status.ts';
import { providerNotFound, type Providers } from '../providers/providers.ts';
import { hiddenValue } from '../providers/settings.ts';
import type { providerRoutes as routes } from '../schemas/providers.ts';

export interface ProviderParts {
  readonly providers: Providers;
  readonly sources: StatusSources;
  readonly log: Log;
}

type ProviderHandlers = { readonly [K in keyof typeof routes]: Handler<(typeof routes)[K]> };

/** The edge of providers. */
export function providerHandlers({ providers, sources, log }: ProviderParts): ProviderHandlers {
  return {
    listProviders: () => ({
      providers: providers.all().map((provider) => describeStatus(provider, sources)),
    }),
    readProvider: ({ params }) => {
      const provider = providers.find(params.name);
      if (!provider) throw providerNotFound(params.name);
      return describeSettings(provider, hiddenValue);
    },
    putProvider: async (call) => {
      const { params, body, identity } = call;
      const { provider, isNew } = await providers.put(params.name, body);
      log.info({ provider: provider.name, by: identity.subject }, 'a provider was put');
      if (isNew) call.setStatus(201);
      return describeSettings(provider, hiddenValue);
    },
    deleteProvider: async ({ params, identity }) => {
      await providers.delete(params.name);
      log.info({ provider: params.name, by: identity.subject }, 'a provider was deleted');
      return { name: params.name, deleted: true };
    },
  };
}
