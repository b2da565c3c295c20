import { Fault } from '../../kit/errors.ts';
import type { Handler } from '../../kit/http/call.ts';
import { allows } from '../../kit/permissions.ts';
import type { Cache } from '../cache/cache.ts';
import type { cacheRoutes as routes } from '../schemas/cache.ts';

type CacheHandlers = { readonly [K in keyof typeof routes]: Handler<(typeof routes)[K]> };

/** The edge of the cache. */
export function cacheHandlers({ cache }: { readonly cache: Cache }): CacheHandlers {
  return {
    readCache: () => cache.measure(),
    evictCacheEntry: async ({ params: { key }, identity }) => {
      const mayEvictAny = allows(identity.permissions, 'gateway:configure');
      const tenant = mayEvictAny ? undefined : identity.subject;
      if ((await cache.evict({ key, tenant })) > 0) return { key, evicted: true };
      throw new Fault('not_found', `no answer is cached as ${key}`, {
        reason: 'cache_entry_not_found',
        detail: { param: 'key' },
      });
    },
    clearCache: async ({ query: { namespace }, identity }) => ({
      evicted: await cache.evict({ tenant: identity.subject, namespace }),
    }),
  };
}
