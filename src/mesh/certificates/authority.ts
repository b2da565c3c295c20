import type { JsonGeneralName } from '@peculiar/x509';
import { webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import { join } from 'node:path';
import type { Subscription, Topic } from '../../kit/bus/bus.ts';
import { UnheardWritersWatch } from '../../kit/bus/unheard-writers.ts';
import type { Log } from '../../kit/log.ts';
import { openSealer, type Sealer } from '../../kit/secrets/sealing.ts';
import {
  erasePrivateKeys,
  insertRoot,
  readRoots,
  type RootRow,
  type RootSql,
} from './authority-store.ts';
import { keyAlgorithm, privateKeyPem } from './keys.ts';
import type { IssuedIdentity } from './renewed-identity.ts';
import { loopbackNames, readRequest } from './request.ts';
import { createRoot, openRoot, signLeaf, type SigningRoot } from './root.ts';
import { meshSpiffeId, spiffeIdOf, type CertificateGrant } from './spiffe.ts';

/** Says that there is a new root; which stand, the database knows. */
export interface RootChange {
  readonly generation: number;
}

export interface AuthorityOptions {
  readonly sql: RootSql;
  readonly topic: Topic<RootChange>;
  /** Whether other replicas make roots and the topic does not tell of it: then they are read every 2 s. */
  readonly hasUnheardWriters?: () => boolean;
  /** The suite's data folder: the key that roots are sealed with lies there. */
  readonly dataFolder: string;
  readonly log: Log;
  /** Host names and addresses, beside the loopback's, under which others reach this mesh. */
  readonly hostNames?: readonly string[];
  /** One hour unless told. */
  readonly leafLifeMs?: number;
  /** One year unless told. */
  readonly rootLifeMs?: number;
  /** How long before a root's end the next one is made; 30 days unless told. */
  readonly rollBeforeMs?: number;
  /** By how much clocks of replicas and agents may differ; a minute unless told. */
  readonly skewMs?: number;
  readonly now?: () => number;
}

/** Where the newest root stands. */
export interface RolledRoot {
  readonly generation: number;
  readonly signsFrom: Date;
}

/** What an agent's owner gets. */
export interface IssuedCertificate {
  /** PEM. */
  readonly certificate: string;
  /** All roots that are trusted now, PEM. */
  readonly ca: string;
  readonly serial: string;
  readonly expiresAt: Date;
}

interface Root {
  readonly row: RootRow;
  readonly signing: SigningRoot | undefined;
}

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/**
 * The mesh's own certificate authority, the same on every replica: roots stand in SQL, sealed. A new
 * root is trusted for a leaf's life before it signs, and the one before stays trusted until its last
 * leaf has expired, so that nobody is refused while roots change.
 */
export class CertificateAuthority implements AsyncDisposable {
  readonly leafLifeMs: number;
  readonly #options: AuthorityOptions;
  readonly #sealer: Sealer;
  readonly #now: () => number;
  readonly #skewMs: number;
  readonly #listeners = new Set<() => void>();
  #roots: readonly Root[] = [];
  #seen = '';
  #timer: NodeJS.Timeout | undefined;
  #watch: UnheardWritersWatch | undefined;
  #subscription: Subscription | undefined;
  #maintaining: Promise<void> = Promise.resolve();

  private constructor(options: AuthorityOptions, sealer: Sealer) {
    this.#options = options;
    this.#sealer = sealer;
    this.#now = options.now ?? Date.now;
    this.#skewMs = options.skewMs ?? minuteMs;
    this.leafLifeMs = options.leafLifeMs ?? 60 * minuteMs;
  }

  /**
   * Reads the roots, and makes the first. Throws `conflict` when the key file that they were sealed
   * with is missing or another.
   */
  static async open(options: AuthorityOptions): Promise<CertificateAuthority> {
    const { sql, dataFolder, now = Date.now } = options;
    const folder = join(dataFolder, 'secrets');
    const stored = await readRoots(sql, new Date(now()));
    const sealer = await openSealer({ folder, mayCreate: stored.length === 0 });
    const authority = new CertificateAuthority(options, sealer);
    await authority.maintain();
    await authority.#follow();
    return authority;
  }

  /** All roots that are trusted now, PEM, the one that signs first. */
  get bundle(): string {
    const signing = this.#signing();
    const others = this.#trusted().filter((root) => root !== signing);
    return [signing, ...others].map(({ row }) => `${row.certificate.trim()}\n`).join('');
  }

  /** When the newest root ends. */
  get rootExpiresAtMs(): number {
    return this.#roots[0]?.row.trusted_until.getTime() ?? 0;
  }

  /**
   * Signs a certificate for an agent. Of the request only the key and the loopback's names are taken.
   * Throws `invalid` (`invalid_csr`) for a request that is none.
   */
  async issue({ agentId, csr, grant }: IssueRequest): Promise<IssuedCertificate> {
    const spiffeId = spiffeIdOf(agentId);
    const { publicKey, loopbackNames: names } = await readRequest(csr);
    return this.#sign({ spiffeId, commonName: agentId, grant, names, publicKey });
  }

  /** A fresh identity of the mesh itself, for its server and for its calls of agents. */
  async issueOwn(): Promise<IssuedIdentity> {
    const keys = await webcrypto.subtle.generateKey(keyAlgorithm, true, ['sign', 'verify']);
    const { certificate, ca, expiresAt } = await this.#sign({
      spiffeId: meshSpiffeId,
      commonName: 'mesh',
      grant: undefined,
      names: [...loopbackNames, ...namesOf(this.#options.hostNames ?? [])],
      publicKey: keys.publicKey,
    });
    const privateKey = await privateKeyPem(keys.privateKey);
    return { certificate, ca, privateKey, expiresAtMs: expiresAt.getTime() };
  }

  /** Calls back when another root signs, or the trusted ones changed. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /**
   * Makes the next root, which signs once a leaf's life has passed, at once with `isUrgent`; the one
   * before stays trusted until its leaves have expired. While a root waits to sign, only an urgent one
   * is made.
   */
  async roll({ isUrgent = false }: { readonly isUrgent?: boolean } = {}): Promise<RolledRoot> {
    const newest = this.#roots[0];
    const isWaiting = newest !== undefined && newest.row.signs_from.getTime() > this.#now();
    if (isUrgent || !isWaiting) await this.#makeNext(newest, isUrgent);
    const { generation = 0, signs_from: signsFrom = new Date(0) } = this.#roots[0]?.row ?? {};
    return { generation, signsFrom };
  }

  async #makeNext(newest: Root | undefined, isUrgent: boolean): Promise<void> {
    await this.#makeRoot(newest?.row, isUrgent ? 0 : this.leafLifeMs + this.#skewMs);
    await this.maintain();
    const generation = this.#roots[0]?.row.generation ?? 0;
    await this.#options.topic.publish({ generation }).catch((err: unknown) => {
      this.#options.log.warn({ err }, 'a new root of the mesh could not be told of');
    });
  }

  /** Reads what other replicas changed, makes the next root when it is due, tells the listeners. */
  maintain(): Promise<void> {
    // One after the other: what was read before a change must not be taken for what follows it.
    const maintaining = this.#maintaining.then(() => this.#maintain());
    this.#maintaining = maintaining.catch(() => {});
    return maintaining;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    this.#watch?.[Symbol.dispose]();
    this.#listeners.clear();
    await this.#subscription?.close();
    await this.#maintaining;
  }

  async #maintain(): Promise<void> {
    const { sql, rootLifeMs = 365 * dayMs, rollBeforeMs = 30 * dayMs } = this.#options;
    await this.#read();
    const [newest] = this.#roots;
    const now = this.#now();
    const endsMs = newest?.row.trusted_until.getTime() ?? 0;
    if (endsMs - now < Math.min(rollBeforeMs, rootLifeMs / 2)) {
      await this.#makeRoot(newest?.row, this.leafLifeMs + this.#skewMs);
      await this.#read();
    }
    const seen = `${this.#signing().row.generation} ${this.bundle}`;
    if (seen === this.#seen) return;
    this.#seen = seen;
    for (const listener of this.#listeners) listener();
    await erasePrivateKeys(sql, new Date(now));
  }

  async #read(): Promise<void> {
    const rows = await readRoots(this.#options.sql, new Date(this.#now()));
    const known = new Map(this.#roots.map((root) => [root.row.generation, root]));
    this.#roots = await Promise.all(
      rows.map(async (row) => {
        const signing = known.get(row.generation)?.signing ?? (await this.#openRoot(row));
        return { row, signing };
      }),
    );
  }

  async #openRoot(row: RootRow): Promise<SigningRoot | undefined> {
    if (row.private_key === '') return undefined;
    const privateKey = this.#sealer.unseal(row.private_key, contextOf(row.generation));
    return openRoot({ certificate: row.certificate, privateKey });
  }

  async #makeRoot(previous: RootRow | undefined, overlapMs: number): Promise<void> {
    const now = this.#now();
    const generation = (previous?.generation ?? 0) + 1;
    const validity = {
      fromMs: now - this.#skewMs,
      untilMs: now + (this.#options.rootLifeMs ?? 365 * dayMs),
    };
    const { certificate, privateKey } = await createRoot(generation, validity);
    const endsMs = previous?.trusted_until.getTime() ?? 0;
    const latestMs = Math.max(now, endsMs - this.leafLifeMs - this.#skewMs);
    const signsFromMs = Math.min(now + overlapMs, latestMs);
    const row = {
      generation,
      certificate,
      private_key: this.#sealer.seal(privateKey, contextOf(generation)),
      signs_from: new Date(signsFromMs),
      trusted_until: new Date(validity.untilMs),
    };
    const lastLeafMs = signsFromMs + this.leafLifeMs + this.#skewMs;
    await insertRoot(this.#options.sql, row, new Date(lastLeafMs));
  }

  async #sign(content: Omit<Parameters<typeof signLeaf>[1], 'validity'>) {
    const { row, signing } = this.#signing();
    if (!signing) throw new Error('the root that signs has no key');
    const now = this.#now();
    const untilMs = Math.min(now + this.leafLifeMs, row.trusted_until.getTime());
    const validity = { fromMs: now - this.#skewMs, untilMs };
    const { certificate, serial } = await signLeaf(signing, { ...content, validity });
    return { certificate, serial, ca: this.bundle, expiresAt: new Date(untilMs) };
  }

  #trusted(): readonly Root[] {
    const now = this.#now();
    return this.#roots.filter(({ row }) => row.trusted_until.getTime() > now);
  }

  #signing(): Root {
    const now = this.#now();
    const root = this.#trusted().find(({ row }) => row.signs_from.getTime() <= now);
    if (!root) throw new Error('no root signs');
    return root;
  }

  async #follow(): Promise<void> {
    const { topic, log, hasUnheardWriters = () => false } = this.#options;
    const maintain = () => {
      this.maintain().catch((err: unknown) => log.warn({ err }, 'the roots could not be read'));
    };
    this.#subscription = await topic.subscribe(maintain);
    this.#watch = new UnheardWritersWatch(hasUnheardWriters, maintain);
    this.#timer = setInterval(maintain, Math.min(minuteMs, this.leafLifeMs / 10)).unref();
  }
}

/** Who asks for a certificate of which agent; that it may is for the caller to know. */
export interface IssueRequest {
  readonly agentId: string;
  readonly grant: CertificateGrant;
  /** PEM. */
  readonly csr: string;
}

/** Hosts as URLs have them; the loopback's stand in every certificate. */
function namesOf(hostNames: readonly string[]): readonly JsonGeneralName[] {
  const hosts = hostNames.map((name) => name.replaceAll(/^\[|\]$/g, ''));
  const further = hosts.filter((host) => loopbackNames.every(({ value }) => value !== host));
  return further.map((value) => ({ type: isIP(value) === 0 ? 'dns' : 'ip', value }));
}

function contextOf(generation: number): string {
  return `mesh certificate root ${generation}`;
}
