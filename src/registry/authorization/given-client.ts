import { Fault } from '../../kit/errors.ts';
import type { AuthorizationRequest } from './authorization.ts';
import type { Standing } from './server-login.ts';

/**
 * The client that a request names, if it names one. Throws `invalid` (`client_id_needed`) where a
 * secret or an issuer belongs to none: another client than was meant would be used.
 */
export function readClient(request: AuthorizationRequest): Standing['client'] {
  const { clientId, clientSecret, issuer } = request;
  if (clientId !== undefined) {
    return {
      client_id: clientId,
      ...(clientSecret === undefined ? {} : { client_secret: clientSecret }),
      ...(issuer === undefined ? {} : { issuer }),
    };
  }
  if (clientSecret === undefined && issuer === undefined) return undefined;
  const field = clientSecret === undefined ? 'issuer' : 'clientSecret';
  throw new Fault('invalid', `${field} belongs to a client: clientId has to name it`, {
    reason: 'client_id_needed',
    detail: { field },
  });
}
