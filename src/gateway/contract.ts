import type { Contract } from '../kit/contract.ts';
import { gatewayEnvelope } from './envelope.ts';
import { budgetRoutes } from './schemas/budgets.ts';
import { cacheRoutes } from './schemas/cache.ts';
import { completionRoutes } from './schemas/completions.ts';
import { healthRoutes } from './schemas/health.ts';
import { imageRoutes } from './schemas/images.ts';
import { otherFaceRoutes } from './schemas/other-faces.ts';
import { providerRoutes } from './schemas/providers.ts';
import { routeRoutes } from './schemas/route.ts';
import { spendRoutes } from './schemas/spend.ts';

/** What others may know of the gateway. */
export const gatewayContract = {
  name: 'gateway',
  title: 'Ennead Gateway',
  version: '1.0.0',
  description: 'One door to every model provider.',
  error: gatewayEnvelope.schema,
  routes: {
    ...completionRoutes,
    ...otherFaceRoutes,
    ...imageRoutes,
    ...routeRoutes,
    ...providerRoutes,
    ...cacheRoutes,
    ...budgetRoutes,
    ...spendRoutes,
    ...healthRoutes,
  },
} as const satisfies Contract;
