import type { IncomingHttpHeaders } from 'node:http';
import { Fault } from '../errors.ts';
import { invalidToken } from '../identity/claims.ts';
import type { Identity } from '../identity/identity.ts';
import type { ServiceToken } from '../identity/service-token.ts';
import { peerPermission, requirePermission } from '../permissions.ts';
import type { Origin } from './call.ts';

const addressHeader = 'x-ennead-caller-address';
const voucherHeader = 'x-ennead-service-token';
const voucherRefused = 'voucher_refused';

/**
 * Calls another service for a caller of one's own, whose origin it is told, with the token of the
 * service that vouches for it: once more with a new token when the one it had was refused.
 */
export async function vouchFor<T>(
  origin: Origin,
  ownToken: Pick<ServiceToken, 'get' | 'forget'>,
  send: (headers: Readonly<Record<string, string>>) => Promise<T>,
): Promise<T> {
  const sendOnce = async () => send(headersFor(origin, await ownToken.get()));
  try {
    return await sendOnce();
  } catch (error) {
    if (!isVoucherRefused(error)) throw error;
    ownToken.forget();
    return await sendOnce().catch(explainSecond);
  }
}

/**
 * Where a call came from: what a service of the suite vouches for, else the connection. Rejects with
 * `unauthenticated` or `forbidden` when an address is told by anybody else.
 */
export async function readOrigin(
  { headers, origin }: { readonly headers: IncomingHttpHeaders; readonly origin: Origin },
  verify: (token: string) => Identity | Promise<Identity>,
): Promise<Origin> {
  const ip = headers[addressHeader];
  if (ip === undefined) return origin;
  const { permissions } = await identify(String(headers[voucherHeader] ?? ''), verify);
  requirePermission(permissions, peerPermission);
  return { ip: String(ip), userAgent: origin.userAgent };
}

async function identify(
  token: string,
  verify: (token: string) => Identity | Promise<Identity>,
): Promise<Identity> {
  try {
    return await verify(token);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'unauthenticated') throw error;
    throw invalidToken(
      'only a service of the suite tells the address of its caller',
      voucherRefused,
    );
  }
}

function headersFor({ ip, userAgent }: Origin, token: string): Readonly<Record<string, string>> {
  return { [addressHeader]: ip, [voucherHeader]: token, 'user-agent': userAgent };
}

/** The caller of this service is not the one who was refused. */
function explainSecond(cause: unknown): never {
  if (!isVoucherRefused(cause)) throw cause;
  throw new Fault('unavailable', 'this service is not known there', { cause, retryAfter: 1 });
}

function isVoucherRefused(error: unknown): boolean {
  return error instanceof Fault && error.detail['reason'] === voucherRefused;
}
