import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { Fault } from '../errors.ts';
import type { Log } from '../log.ts';

export interface DialOptions {
  readonly isAllowed: (address: string) => boolean;
  readonly resolve: LookupFunction;
  readonly log: Log | undefined;
}

/** The refusal of an address; names the host as the caller gave it, never what it resolves to. */
export function blockedFault(host: string, field?: string): Fault {
  return new Fault('forbidden', `calls to ${host} are not allowed`, {
    reason: 'egress_blocked',
    detail: field === undefined ? {} : { param: field },
  });
}

/**
 * `dns.lookup` that answers only when every address may be called, so that the connection goes to
 * an address that was checked. Sockets skip it for IP literals: check those beforehand.
 */
export function createLookup({ isAllowed, resolve, log }: DialOptions): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, found, family) => {
      if (error) return callback(error, []);
      // A resolver may ignore `all`, as some clients' own do.
      const addresses =
        typeof found === 'string' ? [{ address: found, family: family ?? isIP(found) }] : found;
      const blocked = addresses.find(({ address }) => !isAllowed(address));
      if (blocked) {
        log?.warn({ host: hostname, address: blocked.address }, 'an outgoing call was blocked');
        return callback(blockedFault(hostname), []);
      }
      const [first] = addresses;
      if (!first) return callback(new Error(`${hostname} has no address`), []);
      if (options.all) return callback(null, addresses);
      return callback(null, first.address, first.family);
    });
  };
}

/** Connections that are checked when they are made: literals here, names in the lookup. */
export function createAgent(options: DialOptions): Agent {
  const { isAllowed, log } = options;
  const connect = buildConnector({ lookup: createLookup(options), timeout: connectTimeoutMs });
  return new Agent({
    connect: (target, callback) => {
      const { hostname } = target;
      if (isIP(hostname) === 0 || isAllowed(hostname)) return connect(target, callback);
      log?.warn({ host: hostname }, 'an outgoing call was blocked');
      return queueMicrotask(() => callback(blockedFault(hostname), null));
    },
  });
}

const connectTimeoutMs = 10_000;
