import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Ground, RunningAuth } from '../auth/testing.ts';
import type { ConsoleOptions } from './console.ts';

/** The console's own token: auth gives it for the key that it writes for every member of the suite. */
export function ownTokenOf({ dataFolder }: Ground, auth: RunningAuth): ConsoleOptions['ownToken'] {
  const get = async () => {
    const key = await readFile(join(dataFolder, 'service-keys', 'console.key'), 'utf8');
    const body = { api_key: key.trim(), client_id: 'console' };
    return (await auth.call('POST', '/api/v1/auth/api-key', { body })).body.access_token as string;
  };
  return { get, forget: () => {} };
}

/** What a browser keeps of the cookies that it was given. */
export class Cookies {
  readonly #values = new Map<string, string>();

  get header(): string {
    return [...this.#values].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  take(response: Response): void {
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (value === '') this.#values.delete(name);
      else this.#values.set(name, value);
    }
  }

  delete(name: string): void {
    this.#values.delete(name);
  }
}
