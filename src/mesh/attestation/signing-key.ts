import { calculateJwkThumbprint } from 'jose';
import { createPrivateKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { join } from 'node:path';
import { openSealer, type Sealer } from '../../kit/secrets/sealing.ts';
import { validityMs } from './attestation.ts';
import {
  deleteEndedKeys,
  insertSigningKey,
  isKeyPublished,
  readSigningKeys,
  type PublicKeyJwk,
  type SigningKeyRow,
  type SigningKeySql,
} from './signing-key-store.ts';

export interface SigningKeyOptions {
  readonly sql: SigningKeySql;
  /** The suite's: its `secrets` folder holds the key files. */
  readonly dataFolder: string;
  readonly now: () => number;
}

/** A JWS in its compact form (RFC 7515, section 7.1) and the signature that is in it. */
export interface SignedToken {
  readonly token: string;
  readonly signature: Buffer;
}

/** A key that signs what the mesh states. */
export interface TokenKey {
  readonly kid: string;
  /** The type says what kind of statement it is, so that none is taken for another (RFC 8725, 3.11). */
  sign(type: string, claims: object): SignedToken;
}

export interface TokenSigner {
  /** The one that signs now. */
  readonly key: TokenKey;
}

/** What follows from a rotation. */
export interface KeyRotation {
  readonly kid: string;
  /** When the key begins to sign, in milliseconds since the epoch. */
  readonly signsFromMs: number;
}

class SigningKey implements TokenKey {
  readonly row: SigningKeyRow;
  readonly privateKey: KeyObject;

  constructor(row: SigningKeyRow, privateKey: KeyObject) {
    this.row = row;
    this.privateKey = privateKey;
  }

  get kid(): string {
    return this.row.kid;
  }

  sign(type: string, claims: object): SignedToken {
    const input = `${encode({ alg: 'EdDSA', typ: type, kid: this.kid })}.${encode(claims)}`;
    const signature = sign(null, Buffer.from(input), this.privateKey);
    return { token: `${input}.${signature.toString('base64url')}`, signature };
  }
}

/** How long verifiers may keep the key set. */
export const keySetMaxAgeSeconds = 300;

/** By how much clocks of replicas may differ, and how late one may read of a new key. */
const marginMs = 60_000;
/** A new key is published so long before it signs: by then nobody has a key set without it. */
const announcedMs = keySetMaxAgeSeconds * 1_000 + 2 * marginMs;

/**
 * The keys of the mesh, the same on every replica of one database. The one before stays published until
 * the last statement that it signed has expired.
 */
export class SigningKeys implements TokenSigner {
  readonly #options: SigningKeyOptions;
  readonly #sealer: Sealer;
  #keys: readonly SigningKey[] = [];

  private constructor(options: SigningKeyOptions, sealer: Sealer) {
    this.#options = options;
    this.#sealer = sealer;
  }

  /**
   * Reads the keys, and makes the first. Throws `conflict` when the key file that they were sealed
   * under is missing or another.
   */
  static async open(options: SigningKeyOptions): Promise<SigningKeys> {
    const { sql, dataFolder, now } = options;
    const known = await readSigningKeys(sql, new Date(now()));
    const folder = join(dataFolder, 'secrets');
    const sealer = await openSealer({ folder, mayCreate: known.length === 0 });
    const keys = new SigningKeys(options, sealer);
    if (known.length === 0) await keys.#make({ signsFromMs: now(), earlierUntilMs: now() });
    await keys.read();
    return keys;
  }

  /** What verifies everything that is still good, the newest first. */
  get published(): readonly PublicKeyJwk[] {
    return this.#published().map(({ row }) => row.public_jwk);
  }

  get key(): TokenKey {
    return this.#signing();
  }

  /** Whether what the key signed still verifies, as far as this replica knows. */
  isPublished(kid: string): boolean {
    return this.#published().some((key) => key.kid === kid);
  }

  /** The same as the database says. */
  isPublishedNow(kid: string): Promise<boolean> {
    const { sql, now } = this.#options;
    return isKeyPublished(sql, kid, new Date(now()));
  }

  /**
   * Makes the next key, which signs once everybody can know it; nothing happens while one waits to. A
   * compromised key is withdrawn at once, and whatever it signed verifies no more.
   */
  async rotate({ isCompromised }: { readonly isCompromised: boolean }): Promise<KeyRotation> {
    await this.sweep();
    const now = this.#options.now();
    if (isCompromised) {
      // Also on a replica whose clock is behind.
      await this.#make({ signsFromMs: now - marginMs, earlierUntilMs: now - marginMs });
    } else if (this.#signing() === this.#keys[0]) {
      const signsFromMs = now + announcedMs;
      await this.#make({ signsFromMs, earlierUntilMs: signsFromMs + validityMs + marginMs });
    }
    await this.read();
    const { kid, signs_from: signsFrom } = this.#newest().row;
    return { kid, signsFromMs: signsFrom.getTime() };
  }

  /** Takes in what the database says; whether another set of keys is published than before. */
  async read(): Promise<boolean> {
    const { sql, now } = this.#options;
    const before = this.#kids();
    const rows = await readSigningKeys(sql, new Date(now()));
    const known = new Map(this.#keys.map((key) => [key.row.kid, key.privateKey]));
    this.#keys = rows.map((row) => new SigningKey(row, known.get(row.kid) ?? this.#unseal(row)));
    return this.#kids() !== before;
  }

  /** The same, and erases what has ended. */
  async sweep(): Promise<boolean> {
    const { sql, now } = this.#options;
    await deleteEndedKeys(sql, new Date(now()));
    return this.read();
  }

  #kids(): string {
    return this.#published()
      .map(({ kid }) => kid)
      .join(' ');
  }

  #unseal({ kid, private_key: sealed }: SigningKeyRow): KeyObject {
    const key = this.#sealer.unseal(sealed, contextOf(kid));
    return createPrivateKey({ key, format: 'der', type: 'pkcs8' });
  }

  async #make(times: {
    readonly signsFromMs: number;
    readonly earlierUntilMs: number;
  }): Promise<void> {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const { x = '' } = publicKey.export({ format: 'jwk' });
    const kid = await calculateJwkThumbprint({ kty: 'OKP', crv: 'Ed25519', x });
    const der = privateKey.export({ format: 'der', type: 'pkcs8' });
    const row: SigningKeyRow = {
      generation: (this.#keys[0]?.row.generation ?? 0) + 1,
      kid,
      public_jwk: { kty: 'OKP', crv: 'Ed25519', x, kid, use: 'sig', alg: 'EdDSA' },
      private_key: this.#sealer.seal(der, contextOf(kid)),
      signs_from: new Date(times.signsFromMs),
      published_until: null,
    };
    await insertSigningKey(this.#options.sql, row, new Date(times.earlierUntilMs));
  }

  #published(): readonly SigningKey[] {
    const now = this.#options.now();
    return this.#keys.filter(({ row }) => (row.published_until?.getTime() ?? Infinity) > now);
  }

  #signing(): SigningKey {
    const now = this.#options.now();
    const key = this.#published().find(({ row }) => row.signs_from.getTime() <= now);
    return key ?? this.#newest();
  }

  #newest(): SigningKey {
    const [newest] = this.#keys;
    if (!newest) throw new Error('the mesh has no key to sign with');
    return newest;
  }
}

function contextOf(kid: string): string {
  return `mesh attestation key ${kid}`;
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}
