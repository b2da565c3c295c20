import { createHash } from 'node:crypto';

/*
 * Ristretto255 and the proofs once more, straight from RFC 9496, section 4, in plain integers: slow,
 * not constant in time and without a line in common with what it is compared with by tests.
 */

const p = 2n ** 255n - 19n;
/** The order of the group. */
export const groupOrder = 2n ** 252n + 27742317777372353535851937790883648493n;

const modulo = (value: bigint) => ((value % p) + p) % p;
const d = modulo(-121665n * inverse(121666n));
const rootOfMinusOne = power(2n, (p - 1n) / 4n);
const inverseRootOfAMinusD = inverseRoot(modulo(-1n - d)).root;

/** A point of edwards25519 in affine coordinates: one of several that are the same element. */
export interface PlainPoint {
  readonly x: bigint;
  readonly y: bigint;
}

const identity: PlainPoint = { x: 0n, y: 1n };
/** The generator, as RFC 9496, appendix A.1 encodes it. */
export const plainGenerator: PlainPoint = decodePlain(
  'e2f2ae0a6abc4e71a884a961c500515f58e30b6aa582dd8db6a65945e08d2d76',
);

/** Section 4.3.1; throws for what is no encoding. */
export function decodePlain(hex: string): PlainPoint {
  const s = littleEndian(Buffer.from(hex, 'hex'));
  if (hex.length !== 64 || s >= p || s % 2n === 1n) throw new RangeError('not canonical');
  const ss = modulo(s * s);
  const u1 = modulo(1n - ss);
  const u2 = modulo(1n + ss);
  const v = modulo(-d * u1 * u1 - u2 * u2);
  const { isSquare, root } = inverseRoot(modulo(v * u2 * u2));
  const denominatorX = modulo(root * u2);
  const x = positive(2n * s * denominatorX);
  const y = modulo(u1 * root * denominatorX * v);
  if (!isSquare || isNegative(x * y) || y === 0n) throw new RangeError('no element');
  return { x, y };
}

/** Section 4.3.2. */
export function encodePlain({ x: x0, y: y0 }: PlainPoint): string {
  const t0 = modulo(x0 * y0);
  const u1 = modulo((1n + y0) * (1n - y0));
  const { root } = inverseRoot(modulo(u1 * t0 * t0));
  const denominator1 = modulo(root * u1);
  const denominator2 = modulo(root * t0);
  const inverseZ = modulo(denominator1 * denominator2 * t0);
  const isRotated = isNegative(t0 * inverseZ);
  const x = isRotated ? modulo(y0 * rootOfMinusOne) : x0;
  let y = isRotated ? modulo(x0 * rootOfMinusOne) : y0;
  const denominator = isRotated ? modulo(denominator1 * inverseRootOfAMinusD) : denominator2;
  if (isNegative(x * inverseZ)) y = modulo(-y);
  return toHex(positive(denominator * (1n - y)));
}

/** The complete addition of edwards25519. */
export function addPlain(a: PlainPoint, b: PlainPoint): PlainPoint {
  const product = modulo(d * a.x * b.x * a.y * b.y);
  return {
    x: modulo((a.x * b.y + b.x * a.y) * inverse(1n + product)),
    y: modulo((a.y * b.y + a.x * b.x) * inverse(1n - product)),
  };
}

/** Doubles and adds, so the time tells the factor. */
export function multiplyPlain(point: PlainPoint, factor: bigint): PlainPoint {
  let sum = identity;
  for (const bit of factor.toString(2)) {
    sum = addPlain(sum, sum);
    if (bit === '1') sum = addPlain(sum, point);
  }
  return sum;
}

/** The challenge of a proof: texts as UTF-8, bytes as they are, each after its length. */
export function plainChallenge(parts: readonly (string | Buffer)[]): bigint {
  const framed = parts.flatMap((part) => {
    const bytes = Buffer.from(part as string);
    return [Buffer.from(bytes.length.toString(16).padStart(8, '0'), 'hex'), bytes];
  });
  const digest = createHash('sha512').update(Buffer.concat(framed)).digest();
  return littleEndian(digest) % groupOrder;
}

/** Whether s·G = R + c·P. */
export function holdsPlain(values: Readonly<Record<'P' | 'R' | 'c' | 's', string>>): boolean {
  const [c, s] = [scalarOf(values.c), scalarOf(values.s)];
  const right = addPlain(decodePlain(values.R), multiplyPlain(decodePlain(values.P), c));
  return encodePlain(multiplyPlain(plainGenerator, s)) === encodePlain(right);
}

/** The number of 32 bytes in hex, the lowest first. */
export function scalarOf(hex: string): bigint {
  return littleEndian(Buffer.from(hex, 'hex'));
}

/** 32 bytes, the lowest first. */
export function toHex(value: bigint): string {
  const bytes = Buffer.from(value.toString(16).padStart(64, '0'), 'hex');
  return Buffer.from(bytes.toReversed()).toString('hex');
}

/** Section 4.2: the root of 1/value, or of i/value when there is none. */
function inverseRoot(value: bigint): { readonly isSquare: boolean; readonly root: bigint } {
  const inverted = inverse(value);
  const candidate = power(inverted, (p + 3n) / 8n);
  for (const root of [candidate, modulo(candidate * rootOfMinusOne)]) {
    if (modulo(root * root * value) === (value === 0n ? 0n : 1n)) {
      return { isSquare: value !== 0n, root: positive(root) };
    }
  }
  return { isSquare: false, root: inverseRoot(modulo(value * inverse(rootOfMinusOne))).root };
}

function positive(value: bigint): bigint {
  return isNegative(value) ? modulo(-value) : modulo(value);
}

function isNegative(value: bigint): boolean {
  return modulo(value) % 2n === 1n;
}

function inverse(value: bigint): bigint {
  return power(modulo(value), p - 2n);
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (const bit of exponent.toString(2)) {
    result = (result * result) % p;
    if (bit === '1') result = (result * base) % p;
  }
  return result;
}

function littleEndian(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes.toReversed()).toString('hex')}`);
}
