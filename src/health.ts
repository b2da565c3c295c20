import { request } from 'undici';
import type { AddressBook } from './addresses.ts';
import type { ServiceState } from './console/contract.ts';
import { services } from './services.ts';

const timeoutMs = 2_000;

/** Asks all nine services how they are, at once, each for at most two seconds. */
export function checkHealth(addresses: AddressBook): Promise<ServiceState[]> {
  return Promise.all(
    services.map(async ({ contract: { name, title } }) => {
      const url = addresses.urlOf(name);
      return { name, title, url, ...(await askHealth(url)) };
    }),
  );
}

async function askHealth(url: string) {
  try {
    const answer = await request(`${url}/health`, { signal: AbortSignal.timeout(timeoutMs) });
    const { status, version, uptime } = (await answer.body.json()) as Partial<ServiceState>;
    if (!status) throw new Error('this is not an Ennead service');
    return { status, version, uptime, error: undefined };
  } catch (error) {
    return { status: 'unreachable', version: undefined, uptime: undefined, error: reasonOf(error) };
  }
}

function reasonOf(error: unknown): string {
  const { code, name, message } = error as NodeJS.ErrnoException;
  if (code === 'ECONNREFUSED') return 'nothing listens there';
  return name === 'TimeoutError' ? `no answer within ${timeoutMs / 1000} s` : message;
}
