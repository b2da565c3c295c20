import { Type } from 'typebox';
import type { Route } from '../../kit/contract.ts';

const cachePath = '/api/v1/cache';
const configuration = 'gateway:configure';

const size = {
  entries: Type.Integer(),
  bytes: Type.Integer(),
  maxBytes: Type.Integer(),
};

const cacheState = Type.Object(
  {
    hitRate: Type.Number({ description: '0..1 of the requests that could be cached' }),
    hits: Type.Integer(),
    misses: Type.Integer(),
    memory: Type.Object(size, { description: 'of this replica' }),
    database: Type.Optional(Type.Object(size, { description: 'of all replicas together' })),
    semanticThreshold: Type.Optional(
      Type.Number({ description: 'absent when only identical requests share an answer' }),
    ),
  },
  { $id: 'CacheState' },
);

/** The routes that look into the cache and empty it. */
export const cacheRoutes = {
  readCache: {
    method: 'GET',
    url: cachePath,
    summary: 'Say what the cache holds and how often it answers',
    permission: configuration,
    schema: { response: { 200: cacheState } },
  },
  evictCacheEntry: {
    method: 'DELETE',
    url: `${cachePath}/:key`,
    summary: 'Drop a cached answer by its `X-Cache-Key`',
    description: `Your own answers only; with \`${configuration}\` anybody's. All replicas follow.`,
    schema: {
      params: Type.Object({
        key: Type.String({ pattern: '^[0-9a-f]{32}$', description: 'as `X-Cache-Key` shows it' }),
      }),
      response: { 200: Type.Object({ key: Type.String(), evicted: Type.Boolean() }) },
    },
  },
  clearCache: {
    method: 'DELETE',
    url: cachePath,
    summary: 'Drop your cached answers',
    schema: {
      // Closed: all would be dropped for a misspelt namespace.
      query: Type.Object(
        {
          namespace: Type.Optional(
            Type.String({
              maxLength: 256,
              description: 'only those of this `cache.key`; all when absent',
            }),
          ),
        },
        { additionalProperties: false },
      ),
      response: {
        200: Type.Object({ evicted: Type.Integer({ description: 'how many there were' }) }),
      },
    },
  },
} as const satisfies Record<string, Route>;
