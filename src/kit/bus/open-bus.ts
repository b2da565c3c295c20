import type { Log } from '../log.ts';
import { LocalBus } from './local-bus.ts';
import type { Bus } from './bus.ts';

export interface BusOptions {
  /**
   * `nats://host:4222` or `tls://…`, several separated by commas, credentials as `user:pass@` or
   * `token@`. Absent: the bus lives in this process.
   */
  readonly url?: string | undefined;
  readonly log: Log;
}

/**
 * The bus that carries what must reach every replica. The caller owns it and disposes of it last.
 * Fails with `invalid` for an address that cannot be one, and `unavailable` when the server does
 * not answer, is older than 2.9 or runs without JetStream.
 */
export async function openBus(options: BusOptions): Promise<Bus> {
  const { url, log } = options;
  if (url === undefined) return new LocalBus({ log });
  // Loaded only here, so that a process without NATS does not pay for the client.
  const { openNatsBus } = await import('./nats-bus.ts');
  return openNatsBus({ url, log });
}
