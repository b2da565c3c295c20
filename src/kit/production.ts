import { isIPv4 } from 'node:net';
import { Type } from 'typebox';
import { setting } from './config.ts';

/** By which a service knows whether others than developers use it. */
export const nodeEnvironment = setting(
  'NODE_ENV',
  Type.String({ maxLength: 64 }),
  'production or development; when absent, an address that is not local means production',
);

/** Whether others than developers use a service, by its environment, else by its own address. */
export function isProduction(environment: string | undefined, ownUrl: string): boolean {
  if (environment !== undefined) return environment === 'production';
  return !isLocal(ownUrl);
}

/** Loopback, or a name that is reserved for tests (RFC 6761). */
export function isLocal(address: string): boolean {
  const host = URL.canParse(address) ? new URL(address).hostname.replace(/\.$/, '') : '';
  const isLoopback = host === '[::1]' || (isIPv4(host) && host.startsWith('127.'));
  return isLoopback || /(^|\.)(localhost|test)$/.test(host);
}
