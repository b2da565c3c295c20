import type { FailureKind } from './failure.ts';

const kinds: ReadonlyMap<number, FailureKind> = new Map([
  [401, 'refused'],
  [402, 'refused'],
  [403, 'refused'],
  [404, 'missing'],
  // Its address is not where the provider answers such requests.
  [405, 'missing'],
  [408, 'late'],
  [409, 'limited'],
  [410, 'missing'],
  [413, 'too-long'],
  [425, 'limited'],
  [429, 'limited'],
  // Groq's flex tier has no capacity left.
  [498, 'limited'],
  [499, 'broken'],
  [504, 'late'],
  // Cloudflare waited in vain.
  [524, 'late'],
]);

/** What an HTTP status says of a failure of which the provider says nothing else. */
export function kindOfStatus(status: number): FailureKind {
  return kinds.get(status) ?? (status >= 400 && status < 500 ? 'rejected' : 'broken');
}

/**
 * What is told to callers in place of the provider's own words, which may hold parts of a key or
 * tell of the operator's account.
 */
export const refusedMessage = 'the provider does not accept its key for this request';
