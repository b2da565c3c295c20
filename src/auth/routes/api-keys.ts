import type { Handlers } from '../../kit/http/call.ts';
import type { authContract } from '../contract.ts';
import type { AuthParts } from '../parts.ts';
import { toApiKey } from './answers.ts';

/** The edge of the API keys; what trades one for a token is among the tokens. */
export function apiKeyHandlers({ apiKeys }: AuthParts) {
  return {
    listApiKeys: async ({ query, identity, origin }) => {
      const { keys, total } = await apiKeys.list(query, { identity, origin });
      return { apiKeys: keys.map(toApiKey), total, ...query };
    },
    createApiKey: async ({ body, identity, origin }) => {
      const { key, text } = await apiKeys.create(body, { identity, origin });
      return { ...toApiKey(key), api_key: text };
    },
    readApiKey: async ({ params, identity, origin }) =>
      toApiKey(await apiKeys.read(params.id, { identity, origin })),
    revokeApiKey: async ({ params, identity, origin }) =>
      toApiKey(await apiKeys.revoke(params.id, { identity, origin })),
    rotateApiKey: async ({ params, body, identity, origin }) => {
      const { key, text } = await apiKeys.rotate(params.id, body ?? {}, { identity, origin });
      return { ...toApiKey(key), api_key: text };
    },
  } satisfies Partial<Handlers<typeof authContract>>;
}
