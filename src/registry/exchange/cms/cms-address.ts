import { Fault } from '../../../kit/errors.ts';

/**
 * The address of a CMS in the one form that it is known by, without a slash at its end. Throws
 * `forbidden` (`cms_not_allowed`) unless it is one of the list, which is separated by commas, or below
 * one; `invalid` for what is no plain address.
 */
export function requireAllowedCms(endpoint: string, allowList: string): string {
  const address = normalise(endpoint);
  if (!address) throw new Fault('invalid', 'the address of the CMS must be a plain http(s) URL');
  const allowed = allowList.split(',').flatMap((one) => normalise(one.trim()) ?? []);
  if (allowed.some((one) => isBelow(address, one))) return address;
  throw new Fault('forbidden', 'the operator has not allowed this CMS: REGISTRY_CMS_ALLOW', {
    reason: 'cms_not_allowed',
  });
}

/** Whether an address is the other one or lies below it, by whole parts of the path. */
export function isBelow(address: string, base: string): boolean {
  return address === base || address.startsWith(`${base}/`);
}

function normalise(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const isWeb = url.protocol === 'http:' || url.protocol === 'https:';
  // An escaped slash would be a part of the path here and a step up at some servers.
  const isPlain = !/%2f|%5c|\/\//i.test(url.pathname.replace(/\/+$/, ''));
  if (!isWeb || !isPlain || url.username || url.password || url.search || url.hash)
    return undefined;
  return url.origin + url.pathname.replace(/\/+$/, '');
}
