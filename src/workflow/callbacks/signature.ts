import { createHmac, timingSafeEqual } from 'node:crypto';

/** Carries `t=<unix seconds>,v1=<hex HMAC-SHA256 of "t.body">`. */
export const signatureHeader = 'x-ennead-signature';

/** How old a signature may be, and how far ahead its clock. */
const toleranceSeconds = 300;

/** The signature of a body at a time; seconds of the Unix epoch. */
export function sign(body: string | Uint8Array, secret: string, atSeconds: number): string {
  return `t=${atSeconds},v1=${digestOf(body, secret, atSeconds).toString('hex')}`;
}

/** Whether a header is the body's signature, made less than five minutes ago; in constant time. */
export function isSignature(
  header: string,
  body: string | Uint8Array,
  { secret, nowMs }: { readonly secret: string; readonly nowMs: number },
): boolean {
  const match = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(header.trim());
  if (!match) return false;
  const atSeconds = Number(match[1]);
  if (Math.abs(nowMs / 1_000 - atSeconds) > toleranceSeconds) return false;
  return timingSafeEqual(Buffer.from(match[2] ?? '', 'hex'), digestOf(body, secret, atSeconds));
}

function digestOf(body: string | Uint8Array, secret: string, atSeconds: number): Buffer {
  return createHmac('sha256', secret).update(`${atSeconds}.`).update(body).digest();
}
