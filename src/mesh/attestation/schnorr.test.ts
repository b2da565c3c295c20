import { ristretto255, ristretto255_hasher } from '@noble/curves/ed25519.js';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  addPlain,
  decodePlain,
  encodePlain,
  groupOrder,
  holdsPlain,
  multiplyPlain,
  plainChallenge,
  plainGenerator,
  scalarOf,
  toHex,
} from './plain-ristretto-testing.ts';
import {
  commit,
  createKeyPair,
  isAnswered,
  isElement,
  isKeyProved,
  isProved,
  prove,
  proveKey,
  publicKeyOf,
  randomChallenge,
  type Proof,
  type Statement,
} from './schnorr.ts';
import { forgeAnswer } from './testing.ts';

interface Rfc9496 {
  readonly multiplesOfGenerator: readonly string[];
  readonly invalidEncodings: readonly string[];
  readonly derivedElements: readonly { readonly input: string; readonly element: string }[];
}

interface Vector {
  readonly use: 'attest' | 'pop';
  readonly secretKey: string;
  readonly k: string;
  readonly statement: Statement;
  readonly publicKey: string;
  readonly proof: Proof;
}

const rfc = readFixture('rfc9496') as Rfc9496;
const { vectors } = readFixture('schnorr') as { readonly vectors: readonly Vector[] };
const { Point } = ristretto255;
const { secretKey, publicKey } = createKeyPair();
const statement = { agentId: 'agent-1', capability: 'code-review', nonce: 'n', expiresAt: 'x' };
const zero = `0x${'0'.repeat(64)}`;

function readFixture(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`./fixtures/${name}.json`, import.meta.url), 'utf8'));
}

const fromHex = (hex: string) => new Uint8Array(Buffer.from(hex, 'hex'));
const plain = (text: string) => text.slice(2);
const valuesOf = (P: string, { commitment, challenge, response }: Proof) => ({
  P: plain(P),
  R: plain(commitment),
  c: plain(challenge),
  s: plain(response),
});

describe('RFC 9496', () => {
  test('A.1: multiples of the generator have the encodings of the RFC', () => {
    let sum = Point.ZERO;
    let plainSum = { x: 0n, y: 1n };
    for (const encoding of rfc.multiplesOfGenerator) {
      expect(Buffer.from(sum.toBytes()).toString('hex')).toBe(encoding);
      expect(encodePlain(plainSum)).toBe(encoding);
      expect(Point.fromBytes(fromHex(encoding)).equals(sum)).toBe(true);
      sum = sum.add(Point.BASE);
      plainSum = addPlain(plainSum, plainGenerator);
    }
    expect(rfc.multiplesOfGenerator).toHaveLength(16);
  });

  test.each(rfc.invalidEncodings)('A.2: %s is no element', (encoding) => {
    expect(isElement(`0x${encoding}`)).toBe(false);
    expect(() => decodePlain(encoding)).toThrow(RangeError);
  });

  test.each(rfc.derivedElements)('A.3: $input becomes $element', ({ input, element }) => {
    const derived = ristretto255_hasher.deriveToCurve?.(fromHex(input));
    expect(derived && Buffer.from(derived.toBytes()).toString('hex')).toBe(element);
    expect(isElement(`0x${element}`)).toBe(true);
  });
});

describe('fixed proofs', () => {
  test.each(vectors)('of $use for $statement are the same everywhere', (vector) => {
    const { use, k, statement: about, proof } = vector;
    const [x, nonce] = [scalarOf(plain(vector.secretKey)), scalarOf(plain(k))];
    const P = encodePlain(multiplyPlain(plainGenerator, x));
    const R = encodePlain(multiplyPlain(plainGenerator, nonce));
    const c = plainChallenge([
      `ENNEAD-ACAP-v1/schnorr-ristretto255-sha512/${use}`,
      Buffer.from(P, 'hex'),
      Buffer.from(R, 'hex'),
      about.agentId,
      about.capability,
      about.nonce ?? '',
      about.issuedAt ?? '',
      about.expiresAt ?? '',
    ]);
    expect([vector.publicKey, publicKeyOf(vector.secretKey)]).toEqual([`0x${P}`, `0x${P}`]);
    expect(proof).toEqual({
      commitment: `0x${R}`,
      challenge: `0x${toHex(c)}`,
      response: `0x${toHex((nonce + c * x) % groupOrder)}`,
    });
    const isAttest = isProved(vector.publicKey, about, proof);
    const isPossession = isKeyProved(vector.publicKey, about.agentId, proof);
    expect({ isAttest, isPossession }).toEqual({
      isAttest: use === 'attest',
      isPossession: use === 'pop',
    });
  });
});

describe('a proof', () => {
  const proof = prove(secretKey, statement);

  test('holds for its statement, also for the second implementation', () => {
    expect(isProved(publicKey, statement, proof)).toBe(true);
    expect(holdsPlain(valuesOf(publicKey, proof))).toBe(true);
  });

  test('is another one each time', () => {
    expect(prove(secretKey, statement).commitment).not.toBe(proof.commitment);
  });

  test.each([
    ['agentId', 'agent-2'],
    ['capability', 'code-reviews'],
    ['nonce', ''],
    ['issuedAt', '1'],
    ['expiresAt', undefined],
  ])('holds for no other %s', (field, value) => {
    expect(isProved(publicKey, { ...statement, [field]: value }, proof)).toBe(false);
  });

  test('holds for no text that is only framed differently', () => {
    const joined = prove(secretKey, { agentId: 'ab', capability: 'c' });
    expect(isProved(publicKey, { agentId: 'a', capability: 'bc' }, joined)).toBe(false);
    const swapped = { ...statement, agentId: statement.capability, capability: statement.agentId };
    expect(isProved(publicKey, swapped, proof)).toBe(false);
    const moved = { ...statement, nonce: 'x', expiresAt: 'n' };
    expect(isProved(publicKey, moved, proof)).toBe(false);
  });

  test('takes an absent field for an empty one, and nothing else', () => {
    const bare = prove(secretKey, { agentId: 'a', capability: 'b' });
    const empty = { agentId: 'a', capability: 'b', nonce: '', issuedAt: '', expiresAt: '' };
    expect(isProved(publicKey, empty, bare)).toBe(true);
  });

  test('holds for no other key', () => {
    expect(isProved(createKeyPair().publicKey, statement, proof)).toBe(false);
  });

  test('of possession is none of a capability, and the other way round', () => {
    const possession = proveKey(secretKey, 'agent-1');
    expect(isKeyProved(publicKey, 'agent-1', possession)).toBe(true);
    expect(isKeyProved(publicKey, 'agent-2', possession)).toBe(false);
    expect(isProved(publicKey, { agentId: 'agent-1', capability: '' }, possession)).toBe(false);
    const attest = prove(secretKey, { agentId: 'agent-1', capability: '' });
    expect(isKeyProved(publicKey, 'agent-1', attest)).toBe(false);
  });

  test.each(['commitment', 'challenge', 'response'] as const)(
    'does not survive a changed digit of its %s',
    (field) => {
      for (let at = 2; at < 66; at += 1) {
        const text = proof[field];
        const digit = (Number.parseInt(text[at] ?? '', 16) ^ 1).toString(16);
        const changed = { ...proof, [field]: text.slice(0, at) + digit + text.slice(at + 1) };
        expect(isProved(publicKey, statement, changed)).toBe(false);
      }
    },
  );

  test.each([
    ['in upper case', (text: string) => `0x${plain(text).toUpperCase()}`],
    ['with 0X', (text: string) => `0X${plain(text)}`],
    ['without 0x', plain],
    ['too short', (text: string) => text.slice(0, -2)],
    ['too long', (text: string) => `${text}00`],
    ['with a line feed', (text: string) => `${text}\n`],
    ['empty', () => '0x'],
  ])('is not read when it is spelt %s', (_title, spell) => {
    for (const field of ['commitment', 'challenge', 'response'] as const) {
      const spelt = { ...proof, [field]: spell(proof[field]) };
      expect(isProved(publicKey, statement, spelt)).toBe(false);
    }
    expect(isProved(spell(publicKey), statement, proof)).toBe(false);
  });

  test('has no second spelling of its scalars', () => {
    const beyond = (text: string) => `0x${toHex(scalarOf(plain(text)) + groupOrder)}`;
    for (const field of ['challenge', 'response'] as const) {
      const malleable = { ...proof, [field]: beyond(proof[field]) };
      expect(isProved(publicKey, statement, malleable)).toBe(false);
      expect(isAnswered(publicKey, malleable)).toBe(false);
    }
  });

  test('knows no identity as a key or as a commitment', () => {
    // With P the identity, R = s·G holds for every challenge; with R the identity, s = c·x.
    const response = `0x${toHex(5n)}`;
    const commitment = `0x${encodePlain(multiplyPlain(plainGenerator, 5n))}`;
    expect(isAnswered(zero, { commitment, challenge: zero, response })).toBe(false);
    expect(isAnswered(publicKey, { commitment: zero, challenge: zero, response: zero })).toBe(
      false,
    );
    expect(isElement(zero)).toBe(false);
  });

  test('is not made of half a character, which UTF-8 cannot tell from another', () => {
    expect(() => prove(secretKey, { agentId: 'a', capability: '\ud800' })).toThrow(RangeError);
    const replaced = prove(secretKey, { agentId: 'a', capability: '\ufffd' });
    const half = { agentId: 'a', capability: '\ud800' };
    expect(isProved(publicKey, half, replaced)).toBe(false);
  });
});

describe('the interactive form', () => {
  test('answers the challenge of the verifier and no other', () => {
    const challenge = randomChallenge();
    const proof = commit(secretKey).respond(challenge);
    expect(isAnswered(publicKey, proof)).toBe(true);
    expect(holdsPlain(valuesOf(publicKey, proof))).toBe(true);
    expect(isAnswered(publicKey, { ...proof, challenge: randomChallenge() })).toBe(false);
    expect(isProved(publicKey, statement, proof)).toBe(false);
  });

  test('never answers twice: two answers to one commitment give the key away', () => {
    const commitment = commit(secretKey);
    commitment.respond(randomChallenge());
    expect(() => commitment.respond(randomChallenge())).toThrow(RangeError);
    const [k, c1, c2] = [7n, 11n, 13n];
    const x = scalarOf(plain(secretKey));
    const [s1, s2] = [k + c1 * x, k + c2 * x];
    const { Fn } = Point;
    const extracted = Fn.create((s1 - s2) * Fn.inv(Fn.create(c1 - c2)));
    expect(publicKeyOf(`0x${toHex(extracted)}`)).toBe(publicKey);
  });

  test('convinces nobody else: without the key, its transcript is made from its end', () => {
    const forged = forgeAnswer(publicKey, randomChallenge());
    expect(isAnswered(publicKey, forged)).toBe(true);
    expect(isProved(publicKey, statement, forged)).toBe(false);
  });

  test('reads neither a zero nor a foreign text as a secret key', () => {
    for (const text of [zero, '0x', 'key', `0x${toHex(groupOrder)}`]) {
      expect(() => publicKeyOf(text)).toThrow(RangeError);
    }
  });
});
