import { generateSecret, generateURI, verify } from 'otplib';

const stepSeconds = 30;

/** A new secret of 160 bits as base32, as RFC 4226, section 4 recommends. */
export function newTimeSecret(): string {
  return generateSecret();
}

/** What an authenticator app reads, mostly as a QR code. */
export function otpauthUrl(secret: string, username: string): string {
  return generateURI({ issuer: 'Ennead', label: username, secret });
}

/** The six digits of what may be a code, as apps show them in groups; undefined for other texts. */
export function digitsOf(typed: string): string | undefined {
  const plain = typed.replaceAll(/\s/g, '');
  return /^\d{6}$/.test(plain) ? plain : undefined;
}

/**
 * The time step (RFC 6238) whose code this is: the present one or a neighbour, but later than the
 * last that was accepted. Undefined for every other text.
 */
export async function findStep(
  secret: string,
  { code, lastStep }: { readonly code: string; readonly lastStep: number },
): Promise<number | undefined> {
  const token = digitsOf(code);
  if (token === undefined) return undefined;
  const epoch = Math.floor(Date.now() / 1000);
  // The library takes no last step that lies beyond the one that it would accept.
  const newest = Math.floor(epoch / stepSeconds) + 1;
  if (lastStep >= newest) return undefined;
  const result = await verify({
    secret,
    token,
    epoch,
    epochTolerance: stepSeconds,
    afterTimeStep: lastStep,
  });
  return result.valid && 'timeStep' in result ? result.timeStep : undefined;
}
