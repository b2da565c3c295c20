import { decodeProtectedHeader } from 'jose';
import { adminPassword, type Ground, type Reply, type RunningAuth } from '../testing.ts';

/** The ids in the key set, as it shows them: the active one first, then the next. */
export async function keysOf(service: RunningAuth): Promise<string[]> {
  const { body } = await service.call('GET', '/.well-known/jwks.json');
  return body.keys.map(({ kid }: { kid: string }) => kid);
}

/** The tokens of a new session of the administrator. */
export async function logIn(
  service: RunningAuth,
): Promise<{ access_token: string; refresh_token: string }> {
  return (await service.login('admin', adminPassword)).body;
}

/** The id of the key that a service signs with now. */
export async function kidOf(service: RunningAuth): Promise<string> {
  return String(decodeProtectedHeader((await logIn(service)).access_token).kid);
}

export async function rotate(service: RunningAuth): Promise<Reply> {
  const token = await service.adminToken();
  return service.call('POST', '/api/v1/auth/keys/rotate', { token });
}

export async function validate(
  service: RunningAuth,
  token: string,
): Promise<{ valid: boolean; error?: string }> {
  return (await service.call('POST', '/api/v1/auth/validate', { body: { token } })).body;
}

export function refresh(service: RunningAuth, refresh_token: string): Promise<Reply> {
  const body = { refresh_token, grant_type: 'refresh_token' };
  return service.call('POST', '/api/v1/auth/refresh', { body });
}

/** The states of all keys that hold a private half. */
export async function readHeldStates(ground: Ground): Promise<string[]> {
  const select = "select state from auth.signing_keys where private_key <> '' order by state";
  const rows = await ground.database.query<{ state: string }>(select);
  return rows.map(({ state }) => state);
}

export async function readActiveKid(ground: Ground): Promise<string> {
  const select = "select kid from auth.signing_keys where state = 'active'";
  const rows = await ground.database.query<{ kid: string }>(select);
  return rows[0]?.kid ?? 'none';
}
