import type { experimental } from '@grpc/grpc-js';

/** A certificate with its key and whom to trust, all PEM. */
export interface IssuedIdentity {
  readonly certificate: string;
  readonly privateKey: string;
  readonly ca: string;
  readonly expiresAtMs: number;
}

export interface RenewalOptions {
  /** Gets a fresh certificate, wherever that comes from. */
  readonly issue: () => Promise<IssuedIdentity>;
  /** Told of each renewal that failed; it is tried again. */
  readonly onFailure: (error: unknown) => void;
  readonly now?: () => number;
}

type CaListener = Parameters<experimental.CertificateProvider['addCaCertificateListener']>[0];
type IdentityListener = Parameters<
  experimental.CertificateProvider['addIdentityCertificateListener']
>[0];

const retryMsMax = 30_000;

/**
 * A certificate that is renewed at half its life, give or take a tenth, and handed to servers and
 * channels as they run: connections that stand keep the one they began with, new ones get the newest.
 */
export class RenewedIdentity implements experimental.CertificateProvider, Disposable {
  readonly #options: RenewalOptions;
  readonly #now: () => number;
  readonly #caListeners = new Set<CaListener>();
  readonly #identityListeners = new Set<IdentityListener>();
  readonly #listeners = new Set<(identity: IssuedIdentity) => void>();
  #current: IssuedIdentity;
  #timer: NodeJS.Timeout | undefined;
  #renewing: Promise<void> | undefined;
  #isWanted = false;
  #isDisposed = false;

  private constructor(options: RenewalOptions, current: IssuedIdentity) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#current = current;
    this.#schedule();
  }

  /** Gets the first certificate; rejects when there is none to be had. */
  static async open(options: RenewalOptions): Promise<RenewedIdentity> {
    return new RenewedIdentity(options, await options.issue());
  }

  get current(): IssuedIdentity {
    return this.#current;
  }

  /** Gets another certificate now; resolves when it is in force. Failures are told, not thrown. */
  renew(): Promise<void> {
    // One that is asked for while another is on its way may have to show what changed meanwhile.
    this.#isWanted = true;
    this.#renewing ??= this.#renewAll().finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  /** Calls back with every certificate that comes after this one. */
  onRenewal(listener: (identity: IssuedIdentity) => void): void {
    this.#listeners.add(listener);
  }

  addCaCertificateListener(listener: CaListener): void {
    this.#caListeners.add(listener);
    process.nextTick(() => listener(this.#ca()));
  }

  removeCaCertificateListener(listener: CaListener): void {
    this.#caListeners.delete(listener);
  }

  addIdentityCertificateListener(listener: IdentityListener): void {
    this.#identityListeners.add(listener);
    process.nextTick(() => listener(this.#identity()));
  }

  removeIdentityCertificateListener(listener: IdentityListener): void {
    this.#identityListeners.delete(listener);
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    clearTimeout(this.#timer);
    this.#listeners.clear();
  }

  async #renewAll(): Promise<void> {
    while (this.#isWanted && !this.#isDisposed) {
      this.#isWanted = false;
      try {
        this.#adopt(await this.#options.issue());
      } catch (error) {
        this.#options.onFailure(error);
        this.#scheduleAfter(Math.min(retryMsMax, this.#leftMs() / 10));
      }
    }
  }

  #adopt(identity: IssuedIdentity): void {
    if (this.#isDisposed) return;
    this.#current = identity;
    // Whom to trust goes first: the other side may show what only the new roots vouch for.
    for (const listener of this.#caListeners) listener(this.#ca());
    for (const listener of this.#identityListeners) listener(this.#identity());
    for (const listener of this.#listeners) listener(identity);
    this.#schedule();
  }

  #schedule(): void {
    this.#scheduleAfter(this.#leftMs() * (0.45 + Math.random() * 0.1));
  }

  #scheduleAfter(delayMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.renew(), Math.max(delayMs, 100)).unref();
  }

  #leftMs(): number {
    return this.#current.expiresAtMs - this.#now();
  }

  #ca() {
    return { caCertificate: Buffer.from(this.#current.ca) };
  }

  #identity() {
    const { certificate, privateKey } = this.#current;
    return { certificate: Buffer.from(certificate), privateKey: Buffer.from(privateKey) };
  }
}
