import type { Identity } from './identity.ts';

/** A user of tests; its token is good for long. */
export function testIdentity(subject: string, permissions: readonly string[] = []): Identity {
  return {
    subject,
    kind: 'user',
    roles: [],
    permissions,
    clientId: 'test',
    name: undefined,
    email: undefined,
    scope: '',
    tokenId: `tok_${subject}`,
    sessionId: 'ses_test',
    tokenEpoch: 0,
    isNarrowed: false,
    expiresAt: 4_000_000_000,
  };
}
