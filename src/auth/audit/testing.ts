import { newId } from '../../kit/ids.ts';
import { formatApiKey, newApiKeySecret } from '../api-keys/api-key-text.ts';
import type { RunningAuth } from '../testing.ts';

/** One event of the audit log that costs no hashing. */
export function failKeyLogin(service: Pick<RunningAuth, 'call'>) {
  const unknown = formatApiKey({ id: newId('key'), secret: newApiKeySecret() });
  const body = { api_key: unknown, client_id: 'c' };
  return service.call('POST', '/api/v1/auth/api-key', { body });
}
