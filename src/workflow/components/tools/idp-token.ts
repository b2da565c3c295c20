import { authContract } from '../../../auth/contract.ts';
import { createClient } from '../../../kit/client.ts';
import { Fault } from '../../../kit/errors.ts';
import type { Tracer } from '../../../kit/trace/trace.ts';
import type { NodeContext } from '../component.ts';

/** The identity provider's own token of whoever holds an access token. */
export type ReadIdpToken = (
  callerToken: string,
  context: Pick<NodeContext, 'signal' | 'span'>,
) => Promise<string>;

const timeoutMs = 10_000;

/**
 * Asks the authentication service. Fault `forbidden` (`idp_login_required`) for a caller who did not
 * log in through the identity provider, or whose login there is over.
 */
export function createIdpTokenReader(options: {
  readonly authUrl: string;
  readonly tracer: Tracer;
}): ReadIdpToken {
  const { authUrl: baseUrl, tracer } = options;
  return async (callerToken, { signal, span: parent }) => {
    const auth = createClient(authContract, { baseUrl, tracer, token: async () => callerToken });
    const answer = await auth.oauthIdpToken({}, { signal, parent, timeoutMs }).catch(refuse);
    return answer.access_token;
  };
}

const refusals = new Set(['unauthenticated', 'forbidden', 'not_found', 'conflict', 'invalid']);

function refuse(error: unknown): never {
  const fault = Fault.from(error);
  if (!refusals.has(fault.code)) throw fault;
  throw new Fault('forbidden', 'the caller must log in through the identity provider', {
    reason: 'idp_login_required',
    cause: fault,
  });
}
