import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Fault } from '../errors.ts';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = [Address, number];

/**
 * Tells whether an IP address may be called. Forms that carry an IPv4 address (mapped, NAT64, 6to4,
 * translated, compatible) are judged by what they carry. Anything that is no IP address may not.
 * Throws `invalid` when the policy holds what is no range.
 */
export function createAddressCheck(policy: EgressPolicy): (address: string) => boolean {
  const allowed = policy.allow.map(parseRange);
  return (text) => {
    if (isIP(text) === 0) return false;
    const address = unwrap(ipaddr.parse(text));
    if (isWithin(address, neverCalled)) return false;
    if (isWithin(address, allowed)) return true;
    if (address.range() === 'loopback') return policy.isLoopbackAllowed;
    return isPublic(address);
  };
}

/** What no operator means to open: this host's wildcard, groups, and the clouds' metadata services. */
const neverCalled = [
  '0.0.0.0/8',
  '::/128',
  '224.0.0.0/4',
  '255.255.255.255/32',
  'ff00::/8',
  '169.254.0.0/16',
  'fe80::/10',
  'fd00:ec2::254/128', // Amazon
  'fd20:ce::254/128', // Google
  '100.100.100.200/32', // Alibaba
  '168.63.129.16/32', // Azure
  '192.0.0.192/32', // Oracle
].map(parseRange);

/** Where IANA assigns global unicast (RFC 4291 section 2.4); the rest of IPv6 is not public. */
const globalUnicast = parseRange('2000::/3');

const carriers = [
  { range: parseRange('::ffff:0:0/96'), offset: 12 }, // mapped, RFC 4291 section 2.5.5.2
  { range: parseRange('::ffff:0:0:0/96'), offset: 12 }, // translated, RFC 2765
  { range: parseRange('64:ff9b::/96'), offset: 12 }, // NAT64, RFC 6052
  { range: parseRange('2002::/16'), offset: 2 }, // 6to4, RFC 3056
];
const compatible = parseRange('::/96'); // RFC 4291 section 2.5.5.1

function unwrap(address: Address): Address {
  if (address.kind() === 'ipv4') return address;
  const offset = findCarried(address);
  if (offset === undefined) return address;
  return ipaddr.fromByteArray(address.toByteArray().slice(offset, offset + 4));
}

function findCarried(address: Address): number | undefined {
  const carrier = carriers.find(({ range }) => isWithin(address, [range]));
  if (carrier) return carrier.offset;
  const isPlain = ['unspecified', 'loopback'].includes(address.range());
  return !isPlain && isWithin(address, [compatible]) ? 12 : undefined;
}

function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || isWithin(address, [globalUnicast]);
}

function isWithin(address: Address, ranges: readonly Range[]): boolean {
  return ranges.some(
    ([start, bits]) => start.kind() === address.kind() && address.match(start, bits),
  );
}

function parseRange(text: string): Range {
  const isRange = /^[^/]+\/\d+$/.test(text) && isIP(text.replace(/\/.*/, '')) !== 0;
  if (isRange && ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text);
  throw new Fault('invalid', `"${text}" is no CIDR range such as 10.20.0.0/16`);
}

export interface EgressPolicy {
  /** CIDR ranges that may be called besides public unicast addresses, e.g. `10.20.0.0/16`. */
  readonly allow: readonly string[];
  readonly isLoopbackAllowed: boolean;
}
