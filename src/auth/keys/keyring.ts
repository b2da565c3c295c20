import { errors, type JWTPayload, type JWTVerifyGetKey } from 'jose';
import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { join } from 'node:path';
import { Fault } from '../../kit/errors.ts';
import { FreshReads } from '../../kit/identity/fresh-reads.ts';
import type { RevocationList } from '../../kit/identity/revocations.ts';
import type { Log } from '../../kit/log.ts';
import { inTransaction } from '../store.ts';
import type { PublicJwk, SigningKeyRow, Sql } from '../tables.ts';
import {
  claimsOf,
  codeOf,
  headOf,
  inputOf,
  isProved,
  readToken,
  signElsewhere,
  type ProofAlgorithm,
  type Signing,
} from './compact-token.ts';
import { createKeyMaterial, isKeyId, signingAlgorithm } from './key-material.ts';
import { openSealer, type Sealer } from '../../kit/secrets/sealing.ts';
import { listPublishedKeys, lockSigningKeys } from './signing-key-store.ts';
import { ensureSuccession } from './succession.ts';
import { currentSecretId, secretsOf, signingKeyOf } from './token-secrets.ts';
import { endOrLate } from '../../kit/time/time-limits.ts';

export interface KeyringOptions {
  readonly sql: Sql;
  readonly dataFolder: string;
  /** A key that it names neither signs nor verifies, whatever was read before. */
  readonly revocations: RevocationList;
  readonly log: Log;
}

interface Signer {
  /** First part of every token that it signs. */
  readonly head: string;
  readonly privateKey: KeyObject;
  /** Of the secret that goes with it. */
  readonly secretId: string;
}

/** What holds until the keys change. */
interface View {
  readonly activeKid: string | undefined;
  readonly keys: readonly PublicJwk[];
  readonly etag: string;
  /** The keys that check tokens of an algorithm, by id; never one kind among the other. */
  readonly checks: Readonly<Record<ProofAlgorithm, ReadonlyMap<string, KeyObject>>>;
}

const freshMs = 25;
const freshWaitMs = 500;

/**
 * Opens the signing keys, making those that are missing. Refuses with `conflict` when the key file
 * in the data folder is missing or is not the one that the keys were sealed with: new keys in place
 * of unreadable ones would silently end every session.
 */
export async function openKeyring(options: KeyringOptions): Promise<Keyring> {
  const { sql } = options;
  const folder = join(options.dataFolder, 'secrets');
  const stored = await listPublishedKeys(sql);
  if (hasSuccession(stored)) {
    const sealer = await openSealer({ folder, mayCreate: false });
    return new Keyring(options, { sealer, rows: stored });
  }
  const isFirstStart = stored.length === 0;
  const made = [createKeyMaterial(), ...(isFirstStart ? [createKeyMaterial()] : [])];
  const spares = await Promise.all(made);
  const opened = await inTransaction(sql, async (trx) => {
    await lockSigningKeys(trx);
    const sealedBefore = await listPublishedKeys(trx);
    const sealer = await openSealer({ folder, mayCreate: sealedBefore.length === 0 });
    // A wrong key file must be found out before anything is sealed with it.
    for (const row of sealedBefore) if (row.private_key) sealer.unseal(row.private_key, row.kid);
    await ensureSuccession(trx, { sealer, spares });
    return { sealer, rows: await listPublishedKeys(trx) };
  });
  return new Keyring(options, opened);
}

/**
 * The suite's signing keys as this process knows them: one signs, all that may still have good
 * tokens verify. `reload` brings what other replicas changed.
 */
export class Keyring {
  /** Seals under the key file that the signing keys are sealed under. */
  readonly sealer: Sealer;
  readonly #options: KeyringOptions;
  readonly #reads = new FreshReads(() => this.#read());
  #rows: readonly SigningKeyRow[] = [];
  #view: View;
  #signers: ReadonlyMap<string, Signer> = new Map();
  #generation = -1;
  #readAt = Number.NEGATIVE_INFINITY;
  #isReading = false;

  /** Use `openKeyring`; throws `conflict` when the sealer cannot open the rows. */
  constructor(
    options: KeyringOptions,
    { sealer, rows }: { readonly sealer: Sealer; readonly rows: readonly SigningKeyRow[] },
  ) {
    this.#options = options;
    this.sealer = sealer;
    this.#view = viewOf([], { sealer });
    this.#adopt(rows);
  }

  /** What `/.well-known/jwks.json` shows. */
  get keys(): readonly PublicJwk[] {
    return this.#current().keys;
  }

  /** Changes with the keys. */
  get etag(): string {
    return this.#current().etag;
  }

  /** The public key that a token's header names; at once when it is known. */
  findKey: JWTVerifyGetKey = ({ kid = '' }) =>
    this.#current().checks.RS256.get(kid) ?? this.#findNew(kid);

  /** Signs claims as a JWT (RFC 7519), never with a key known to be revoked. */
  async sign(claims: JWTPayload, signing: Signing = signElsewhere): Promise<string> {
    const signer = this.#signer() ?? (await this.#readSigner());
    const input = inputOf(signer.head, claims);
    const signature = await signing(input, signer.privateKey);
    return `${input}.${signature.toString('base64url')}`;
  }

  /**
   * Makes claims a JWT that nobody but this service can check: its secret goes with the key that
   * signs, and ends with it. A fraction of what a signature costs.
   */
  async signForSelf(claims: JWTPayload): Promise<string> {
    const { secretId } = this.#signer() ?? (await this.#readSigner());
    const secret = this.#view.checks.HS256.get(secretId);
    if (!secret) throw unavailable();
    const input = inputOf(headOf('HS256', secretId), claims);
    return `${input}.${codeOf(input, secret).toString('base64url')}`;
  }

  /**
   * The claims that `sign` or `signForSelf` made a token of, here or at another replica; undefined
   * for any other text. The algorithm says which keys may check it, never the reverse. Times and
   * claims are the caller's to judge. Rejects with `unavailable` when the key cannot be looked for.
   */
  async verify(text: string): Promise<JWTPayload | undefined> {
    const token = readToken(text);
    if (!token) return undefined;
    const find = () => this.#current().checks[token.algorithm].get(token.kid);
    const key = find() ?? (await this.#seekKey(signingKeyOf(token.kid)), find());
    return key && isProved(token, key) ? claimsOf(token) : undefined;
  }

  /** Takes over what the database holds once this is called; rejects when it cannot be read. */
  reload(): Promise<void> {
    return this.#reads.now();
  }

  /**
   * Has `keys` show also what another replica published a moment ago, at the cost of at most 40
   * reads a second. While the database is away they stay as they are, and this resolves at once or
   * within half a second.
   */
  async freshen(): Promise<void> {
    const ageMs = performance.now() - this.#readAt;
    const isHanging = this.#isReading && ageMs > freshWaitMs;
    if (ageMs < freshMs || isHanging) return;
    const reading = this.reload().catch((error: unknown) => {
      this.#options.log.debug({ err: error }, 'the signing keys stay as they were read before');
    });
    await endOrLate(reading, freshWaitMs);
  }

  /** Another replica may have made the key a moment ago, so the database has the last word. */
  async #findNew(kid: string): Promise<KeyObject> {
    if (!isKeyId(kid) || this.#isRevoked(kid)) throw new errors.JWKSNoMatchingKey();
    const failed = await this.#reads.paced().then(
      () => undefined,
      (cause: unknown) => unavailable(cause),
    );
    const key = this.#current().checks.RS256.get(kid);
    if (key) return key;
    throw failed ?? new errors.JWKSNoMatchingKey();
  }

  async #seekKey(kid: string): Promise<KeyObject | undefined> {
    return this.#findNew(kid).catch((error: unknown) => {
      if (error instanceof errors.JWKSNoMatchingKey) return undefined;
      throw error;
    });
  }

  #signer(): Signer | undefined {
    const { activeKid } = this.#current();
    return activeKid === undefined ? undefined : this.#signers.get(activeKid);
  }

  async #readSigner(): Promise<Signer> {
    await this.reload().catch((cause: unknown) => {
      throw unavailable(cause);
    });
    const signer = this.#signer();
    if (!signer) throw unavailable();
    return signer;
  }

  #current(): View {
    const { revocations } = this.#options;
    if (this.#generation !== revocations.generation) {
      this.#generation = revocations.generation;
      this.#dropRevoked();
    }
    return this.#view;
  }

  #dropRevoked(): void {
    if (!this.#rows.some(({ kid }) => this.#isRevoked(kid))) return;
    this.#show(this.#rows);
    this.reload().catch((error: unknown) => {
      this.#options.log.warn({ err: error }, 'the signing keys could not be read again');
    });
  }

  async #read(): Promise<void> {
    this.#readAt = performance.now();
    this.#isReading = true;
    try {
      this.#adopt(await listPublishedKeys(this.#options.sql));
    } finally {
      this.#isReading = false;
    }
  }

  #adopt(rows: readonly SigningKeyRow[]): void {
    // Verifying goes on even where this process lacks the key file of a new signing key.
    this.#show(rows);
    const usable = this.#rows.filter(({ private_key }) => private_key !== '');
    const signers = usable.map((row) => [row.kid, this.#openSigner(row)] as const);
    this.#signers = new Map(signers);
  }

  #show(rows: readonly SigningKeyRow[]): void {
    this.#rows = rows.filter(({ kid }) => !this.#isRevoked(kid));
    this.#view = viewOf(this.#rows, { sealer: this.sealer, known: this.#view });
  }

  #openSigner(row: SigningKeyRow): Signer {
    const { kid, private_key } = row;
    const known = this.#signers.get(kid);
    if (known) return known;
    const privateKey = createPrivateKey(this.sealer.unseal(private_key, kid));
    return { head: headOf(signingAlgorithm, kid), privateKey, secretId: currentSecretId(row) };
  }

  #isRevoked(keyId: string): boolean {
    const token = { tokenId: '', sessionId: '', subject: '', keyId, tokenEpoch: 0 };
    return this.#options.revocations.covers(token);
  }
}

function viewOf(
  rows: readonly SigningKeyRow[],
  { sealer, known }: { readonly sealer: Sealer; readonly known?: View },
): View {
  const keys = rows.map(({ public_jwk }) => public_jwk);
  const before = known?.checks.RS256;
  return {
    activeKid: rows.find(({ state }) => state === 'active')?.kid,
    keys,
    etag: `"${createHash('sha256').update(JSON.stringify(keys)).digest('base64url')}"`,
    checks: {
      RS256: new Map(keys.map((jwk) => [jwk.kid, before?.get(jwk.kid) ?? openPublic(jwk)])),
      HS256: new Map(rows.flatMap((row) => secretsOf(row, sealer))),
    },
  };
}

function openPublic(jwk: PublicJwk): KeyObject {
  return createPublicKey({ key: { ...jwk }, format: 'jwk' });
}

function hasSuccession(rows: readonly SigningKeyRow[]): boolean {
  return ['active', 'pending'].every((wanted) => rows.some(({ state }) => state === wanted));
}

function unavailable(cause?: unknown): Fault {
  return new Fault('unavailable', 'the signing keys cannot be read now', { cause, retryAfter: 1 });
}
