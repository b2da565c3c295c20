import { Fault } from '../../kit/errors.ts';
import { isLocal } from '../../kit/production.ts';

/** Throws `redirect_uri_mismatch` unless the address is one of those registered, to the letter. */
export function requireRegistered(
  redirectUri: string,
  registered: readonly string[],
  options: { readonly isProduction: boolean },
): void {
  const isKnown = registered.includes(redirectUri);
  if (isKnown && !(options.isProduction && isLocal(redirectUri))) return;
  throw redirectMismatch();
}

/** The refusal of an address that nobody registered, or that another one began with. */
export function redirectMismatch(): Fault {
  return new Fault('invalid', 'redirect_uri is not the registered address', {
    reason: 'redirect_uri_mismatch',
  });
}

/** Throws `invalid` for what is no plain http(s) address, or is one without encryption in production. */
export function requireWebAddress(
  text: string,
  options: { readonly name: string; readonly isProduction: boolean },
): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) throw badSetting(options.name, 'is no http(s) URL');
  if (url.username || url.password) throw badSetting(options.name, 'must not hold credentials');
  if (url.hash || text.includes('#')) throw badSetting(options.name, 'must not hold a fragment');
  if (options.isProduction && url.protocol !== 'https:') {
    throw badSetting(options.name, 'must be https in production');
  }
  return url;
}

/** The refusal of a setting in a provider's configuration. */
export function badSetting(name: string, flaw: string, cause?: unknown): Fault {
  return new Fault('invalid', `${name} ${flaw}`, {
    reason: 'invalid_provider',
    detail: { param: `config.${name}` },
    cause,
  });
}
