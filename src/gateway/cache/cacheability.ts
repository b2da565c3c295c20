import { Fault } from '../../kit/errors.ts';
import type { CacheQuestion } from './answer-cache.ts';
import { ttlSecondsMax } from './cache-settings.ts';

const namespaceLengthMax = 256;

/**
 * Fields with which a request makes something at the provider, or goes on with it: a conversation, a
 * container. What it is answered holds for itself alone.
 */
const stateful = ['thread', 'container', 'conversation', 'previous_response_id'] as const;

/**
 * Seconds that an answer may be kept; 0: the cache is off for it. Throws `invalid` for a `ttl` or
 * `key` that cannot be.
 */
export function keepSecondsOf(
  { wish, temperature, body }: CacheQuestion,
  byDefault: number,
): number {
  const { enabled = temperature === 0, ttl = byDefault, key } = wish;
  if (!enabled) return 0;
  if (!Number.isInteger(ttl) || ttl < 0 || ttl > ttlSecondsMax) {
    throw invalid('cache.ttl', `is a whole number of seconds from 0 to ${ttlSecondsMax}`);
  }
  if (key !== undefined && key.length > namespaceLengthMax) {
    throw invalid('cache.key', `has at most ${namespaceLengthMax} characters`);
  }
  return stateful.some((name) => Boolean(body[name])) ? 0 : ttl;
}

function invalid(param: string, rule: string): Fault {
  const detail = { param };
  return new Fault('invalid', `${param} ${rule}`, { reason: 'invalid_value', detail });
}
