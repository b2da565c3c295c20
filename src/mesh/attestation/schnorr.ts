import { ristretto255 } from '@noble/curves/ed25519.js';
import { createHash, randomBytes } from 'node:crypto';
import { createSecretKey } from './secret-key.ts';

/*
 * Schnorr's proof of knowledge on ristretto255 (RFC 9496): that the prover holds the secret x of a
 * public key P = x·G, said of an agent and a capability and of nothing else. All values are `0x` and
 * 64 lower case hex digits: points as ristretto255 encodes them, scalars as 32 bytes, the lowest
 * first, below the order of the group.
 */

/** The three values that every proof consists of. */
export interface Proof {
  /** R = k·G, for a k that is used once. */
  readonly commitment: string;
  /** c, from the hash of everything that the proof is about, or from the mesh. */
  readonly challenge: string;
  /** s = k + c·x */
  readonly response: string;
}

/** What a proof is about; what is absent counts as the empty text. */
export interface Statement {
  readonly agentId: string;
  readonly capability: string;
  readonly nonce?: string | undefined;
  readonly issuedAt?: string | undefined;
  readonly expiresAt?: string | undefined;
}

export interface KeyPair {
  /** Whoever has it can prove whatever the agent can. */
  readonly secretKey: string;
  readonly publicKey: string;
}

/** A commitment of the interactive form, and what answers one challenge to it. */
export interface Commitment {
  readonly commitment: string;
  /** Answers the challenge; a second call throws, for two answers would reveal the secret key. */
  readonly respond: (challenge: string) => Proof;
}

const { Point } = ristretto255;
type RistrettoPoint = InstanceType<typeof Point>;

const order = Point.Fn.ORDER;
const scalarBytes = 32;
const suite = 'ENNEAD-ACAP-v1/schnorr-ristretto255-sha512';
const attestationTag = `${suite}/attest`;
const keyTag = `${suite}/pop`;
const encoded = /^0x[0-9a-f]{64}$/;
const halfPair = /\p{Surrogate}/u;

/** A new key pair from the system's randomness. */
export function createKeyPair(): KeyPair {
  const secretKey = createSecretKey();
  return { secretKey, publicKey: publicKeyOf(secretKey) };
}

/** Throws a RangeError for what is no secret key. */
export function publicKeyOf(secretKey: string): string {
  return writeBytes(Point.BASE.multiply(readSecret(secretKey)).toBytes());
}

/** Proves, without asking anybody, that the holder of the key speaks. No two proofs are alike. */
export function prove(secretKey: string, statement: Statement): Proof {
  return proveUnder(attestationTag, secretKey, statement);
}

/** Proves the possession of a key that is to be registered for an agent. */
export function proveKey(secretKey: string, agentId: string): Proof {
  return proveUnder(keyTag, secretKey, { agentId, capability: '' });
}

/** Begins the interactive form: the commitment goes to the mesh, which answers a challenge. */
export function commit(secretKey: string): Commitment {
  const x = readSecret(secretKey);
  const k = hedgedScalar(x, '');
  const commitment = writeBytes(Point.BASE.multiply(k).toBytes());
  let isSpent = false;
  return {
    commitment,
    respond: (challenge) => {
      if (isSpent) throw new RangeError('a commitment answers one challenge');
      const c = readScalar(challenge);
      if (c === undefined) throw new RangeError('the challenge is no scalar');
      isSpent = true;
      return { commitment, challenge, response: writeScalar(Point.Fn.create(k + c * x)) };
    },
  };
}

/** Whether a proof holds for the statement; false also for whatever cannot be read. */
export function isProved(publicKey: string, statement: Statement, proof: Proof): boolean {
  return isProvedUnder(attestationTag, { publicKey, statement, proof });
}

/** Whether a proof shows that its maker holds the key, and meant it for the agent. */
export function isKeyProved(publicKey: string, agentId: string, proof: Proof): boolean {
  return isProvedUnder(keyTag, { publicKey, statement: { agentId, capability: '' }, proof });
}

/** Whether the response answers a challenge that the verifier has made itself at random. */
export function isAnswered(publicKey: string, proof: Proof): boolean {
  const c = readScalar(proof.challenge);
  const s = readScalar(proof.response);
  if (c === undefined || s === undefined) return false;
  const [P, R] = [readPoint(publicKey), readPoint(proof.commitment)];
  return P !== undefined && R !== undefined && times(Point.BASE, s).equals(R.add(times(P, c)));
}

/** Whether a text is the encoding of an element other than the identity. */
export function isElement(text: string): boolean {
  return readPoint(text) !== undefined;
}

/** A challenge for the interactive form: a random scalar. */
export function randomChallenge(): string {
  return writeScalar(randomScalar());
}

function proveUnder(tag: string, secretKey: string, statement: Statement): Proof {
  const x = readSecret(secretKey);
  const publicKey = publicKeyOf(secretKey);
  const k = hedgedScalar(x, JSON.stringify([tag, statement]));
  const commitment = writeBytes(Point.BASE.multiply(k).toBytes());
  const c = challengeOf(tag, { publicKey, commitment, statement });
  if (c === undefined) throw new RangeError('the statement is no well-formed text');
  return {
    commitment,
    challenge: writeScalar(c),
    response: writeScalar(Point.Fn.create(k + c * x)),
  };
}

interface Claim {
  readonly publicKey: string;
  readonly statement: Statement;
  readonly proof: Proof;
}

/** The cheap checks come first: a proof for something else costs no multiplication. */
function isProvedUnder(tag: string, { publicKey, statement, proof }: Claim): boolean {
  const { commitment, challenge } = proof;
  if (![publicKey, commitment, challenge].every((text) => encoded.test(text))) return false;
  const c = challengeOf(tag, { publicKey, commitment, statement });
  return c !== undefined && challenge === writeScalar(c) && isAnswered(publicKey, proof);
}

interface Transcript {
  readonly publicKey: string;
  readonly commitment: string;
  readonly statement: Statement;
}

/** Undefined for texts with half a surrogate pair: UTF-8 would make two of them one. */
function challengeOf(
  tag: string,
  { publicKey, commitment, statement }: Transcript,
): bigint | undefined {
  const { agentId, capability, nonce = '', issuedAt = '', expiresAt = '' } = statement;
  const texts = [agentId, capability, nonce, issuedAt, expiresAt];
  if (texts.some((text) => halfPair.test(text))) return undefined;
  const hash = createHash('sha512');
  const parts = [Buffer.from(tag), readBytes(publicKey), readBytes(commitment)];
  for (const part of [...parts, ...texts.map((text) => Buffer.from(text))]) {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(part.length);
    hash.update(length).update(part);
  }
  return reduce(hash.digest());
}

/** A multiple in variable time: nothing that is multiplied here is secret. */
function times(point: RistrettoPoint, factor: bigint): RistrettoPoint {
  return factor === 0n ? Point.ZERO : point.multiplyUnsafe(factor);
}

function readPoint(text: string): RistrettoPoint | undefined {
  if (!encoded.test(text)) return undefined;
  try {
    const point = Point.fromBytes(readBytes(text));
    return point.equals(Point.ZERO) ? undefined : point;
  } catch {
    // RFC 9496, section 4.3.1: not every 32 bytes are an element.
    return undefined;
  }
}

function readScalar(text: string): bigint | undefined {
  if (!encoded.test(text)) return undefined;
  const value = littleEndian(readBytes(text));
  return value < order ? value : undefined;
}

function readSecret(text: string): bigint {
  const x = readScalar(text);
  if (x === undefined || x === 0n) throw new RangeError('this is no secret key');
  return x;
}

/** Random, and still different for different proofs should the system's randomness repeat itself. */
function hedgedScalar(x: bigint, context: string): bigint {
  const hash = createHash('sha512').update(`${suite}/k`).update(randomBytes(64));
  const k = reduce(hash.update(writeScalar(x)).update(context).digest());
  return k === 0n ? hedgedScalar(x, context) : k;
}

function randomScalar(): bigint {
  const value = reduce(randomBytes(64));
  return value === 0n ? randomScalar() : value;
}

function reduce(wide: Uint8Array): bigint {
  return littleEndian(wide) % order;
}

function littleEndian(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes.toReversed()).toString('hex')}`);
}

function writeScalar(value: bigint): string {
  const digits = value.toString(16).padStart(scalarBytes * 2, '0');
  return writeBytes(Buffer.from(digits, 'hex').toReversed());
}

function writeBytes(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes).toString('hex')}`;
}

function readBytes(text: string): Buffer {
  return Buffer.from(text.slice(2), 'hex');
}
