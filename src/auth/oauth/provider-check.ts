import type { Egress } from '../../kit/egress/egress.ts';
import { Fault } from '../../kit/errors.ts';
import type { ProviderConfig } from '../tables.ts';
import { badSetting, requireWebAddress } from './addresses.ts';

/** A provider as an administrator describes it. */
export interface WantedProvider extends Omit<ProviderConfig, 'scopes'> {
  readonly scopes?: string;
  readonly clientSecret: string;
}

export interface ProviderCheckOptions {
  readonly egress: Egress;
  readonly isProduction: boolean;
}

const called = [
  'authorizationURL',
  'tokenURL',
  'userInfoURL',
  'issuer',
  'jwksURL',
  'groupsURL',
] as const;

/** What clients are called and prove themselves by (RFC 6749, appendix A.1 and A.2). */
const visible = /^[\x20-\x7e]*$/;

/**
 * Throws `invalid_provider` for an address that may not be called, or not without encryption, and for
 * credentials that no provider gives out.
 */
export function checkProvider(wanted: WantedProvider, options: ProviderCheckOptions): void {
  for (const name of called) {
    const address = wanted[name];
    if (address === undefined) continue;
    requireWebAddress(address, { name, isProduction: options.isProduction });
    requireCallable(options.egress, name, address);
  }
  for (const name of ['clientID', 'clientSecret'] as const) {
    if (!visible.test(wanted[name])) throw badSetting(name, 'must be of visible ASCII characters');
  }
  const { isProduction } = options;
  requireWebAddress(wanted.callbackURL, { name: 'callbackURL', isProduction });
}

function requireCallable(egress: Egress, name: string, address: string): void {
  try {
    egress.checkUrl(address);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    throw badSetting(name, 'must be an address that may be called', error);
  }
}
