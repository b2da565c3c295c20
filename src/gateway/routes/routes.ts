import type { Handlers } from '../../kit/http/call.ts';
import type { gatewayContract } from '../contract.ts';
import { questionOf } from '../exchange/ask.ts';
import { openAiFace } from '../faces/openai.ts';
import type { GatewayParts } from '../parts.ts';
import type { Provider } from '../providers/provider.ts';
import { budgetHandlers } from './budgets.ts';
import { cacheHandlers } from './cache.ts';
import { chatHandlers } from './chats.ts';
import { embeddingHandlers } from './embeddings.ts';
import { healthHandlers } from './health.ts';
import { imageHandlers } from './images.ts';
import { modelHandlers } from './models.ts';
import { providerHandlers } from './providers.ts';
import { routeHandlers } from './route.ts';
import { spendHandlers } from './spend.ts';

/** The HTTP edge of the gateway. */
export function gatewayHandlers(parts: GatewayParts): Handlers<typeof gatewayContract> {
  const { host, providers, stations, router, cache, money } = parts;
  const { log } = host;
  const sources = {
    standings: stations,
    probe: parts.probeOf,
    remoteLimit: (provider: Provider) => parts.remoteLimits.of(provider),
    localUrl: parts.local.url,
  };
  return {
    ...chatHandlers(parts),
    ...embeddingHandlers(parts),
    ...imageHandlers(parts),
    ...modelHandlers(providers),
    ...routeHandlers({ router, readQuestion: (body) => questionOf(openAiFace, body) }),
    ...providerHandlers({ providers, sources, log }),
    ...cacheHandlers({ cache }),
    ...budgetHandlers({ budgets: money.budgets, log }),
    ...spendHandlers({ ledger: money.ledger }),
    ...healthHandlers(parts),
  };
}
