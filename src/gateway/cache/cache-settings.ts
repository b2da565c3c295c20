import { Type } from 'typebox';
import { setting, settingOr, type ConfigOf, type Settings } from '../../kit/config.ts';

/** The longest life of an answer in the cache: 30 days. */
export const ttlSecondsMax = 30 * 24 * 60 * 60;

/** The environment of the gateway's cache. */
export const cacheSettings = {
  cacheTtlSeconds: settingOr(
    'GATEWAY_CACHE_TTL_SECONDS',
    { schema: Type.Integer({ minimum: 0, maximum: ttlSecondsMax }), or: 3600 },
    'how long the gateway keeps an answer when the request does not say; 0 for not at all',
  ),
  cacheMemoryMb: settingOr(
    'GATEWAY_CACHE_MEMORY_MB',
    { schema: Type.Integer({ minimum: 1, maximum: 65_536 }), or: 64 },
    'megabytes of answers that each replica of the gateway keeps in memory',
  ),
  cacheDatabaseMb: settingOr(
    'GATEWAY_CACHE_DATABASE_MB',
    { schema: Type.Integer({ minimum: 0, maximum: 1_048_576 }), or: 256 },
    'megabytes of answers that the replicas of the gateway share in the database, as they are (not sealed); 0 for none',
  ),
  semanticCacheThreshold: setting(
    'GATEWAY_SEMANTIC_CACHE_THRESHOLD',
    Type.Number({ minimum: 0.8, maximum: 1 }),
    'how alike (0.8 to 1, such as 0.97) two questions must be to share an answer, for requests with `cache.enabled`; when absent only identical requests share one',
  ),
} satisfies Settings;

export type CacheConfig = ConfigOf<typeof cacheSettings>;
