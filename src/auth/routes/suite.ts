import type { Handlers } from '../../kit/http/call.ts';
import type { authContract } from '../contract.ts';
import type { AuthParts } from '../parts.ts';

/** The edge of what the other services and their operator ask for. */
export function suiteHandlers({ revoker, keyring, host }: AuthParts) {
  return {
    revocations: async ({ query }) => {
      const { revocations, next } = await revoker.read(query.after);
      return { revocations: [...revocations], next };
    },
    health: async () => {
      const isDatabaseUp = await host.database.ping().then(
        () => true,
        () => false,
      );
      const database = isDatabaseUp ? 'healthy' : 'unhealthy';
      const own = { database, signingKeys: keyring.keys.length };
      return { ...host.health(), ...(isDatabaseUp ? {} : { status: 'unhealthy' }), ...own };
    },
  } satisfies Partial<Handlers<typeof authContract>>;
}
