import { join } from 'node:path';
import { Fault } from '../../kit/errors.ts';
import type { Log } from '../../kit/log.ts';
import { openSealer, type Sealer } from '../../kit/secrets/sealing.ts';
import { defineProvider, type ProviderDefinition } from './definition.ts';
import {
  deleteProviderRow,
  hasSecrets,
  inTransaction,
  listProviderRows,
  lockProviderRow,
  saveProviderRow,
  type ProviderRow,
  type ProviderSql,
} from './provider-store.ts';
import { badSetting, hiddenValue, type ProviderSettings } from './settings.ts';

export interface StoredProvidersOptions {
  readonly sql: ProviderSql;
  readonly dataFolder: string;
  readonly log: Log;
}

interface Secrets {
  readonly keys: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
}

const noSecrets: Secrets = { keys: [], headers: {} };

/** The providers that were put over the API, their secrets sealed. */
export class StoredProviders {
  readonly #options: StoredProvidersOptions;
  #sealer: Sealer | undefined;
  /** By the row's text, so that what did not change stays the same object. */
  #known: ReadonlyMap<string, ProviderDefinition> = new Map();

  constructor(options: StoredProvidersOptions) {
    this.#options = options;
  }

  /** All of them as they are stored now. */
  async list(): Promise<readonly ProviderDefinition[]> {
    const rows = await listProviderRows(this.#options.sql);
    if (rows.some(({ secrets }) => secrets !== null)) await this.#openSealer(false);
    const read = rows.map((row) => {
      const text = JSON.stringify(row);
      return [text, this.#known.get(text) ?? this.#define(row)] as const;
    });
    this.#known = new Map(read);
    return read.map(([, definition]) => definition);
  }

  /**
   * Stores a provider; true when there was none of that name. Secrets that the settings do not name
   * stay, but only for the origin that they were given for: throws `invalid` (`api_key_required`)
   * where keeping them would show them to another.
   */
  async put(name: string, settings: ProviderSettings): Promise<boolean> {
    const { sql } = this.#options;
    const sealer = await this.#openSealer(!(await hasSecrets(sql)));
    return inTransaction(sql, async (trx) => {
      const before = await lockProviderRow(trx, name);
      const { apiKey: _key, apiKeys: _keys, headers: _headers, ...plain } = settings;
      const kept = before
        ? keepableSecrets(before, settings, () => this.#unseal(before))
        : noSecrets;
      const secrets = mergeSecrets(settings, kept);
      await saveProviderRow(trx, {
        name,
        settings: plain,
        secrets: isEmpty(secrets) ? null : seal(sealer, name, secrets),
        updated_at: new Date(),
      });
      return before === undefined;
    });
  }

  /** False when there was none. */
  delete(name: string): Promise<boolean> {
    return deleteProviderRow(this.#options.sql, name);
  }

  async #openSealer(mayCreate: boolean): Promise<Sealer> {
    const folder = join(this.#options.dataFolder, 'secrets');
    this.#sealer ??= await openSealer({ folder, mayCreate });
    return this.#sealer;
  }

  #define(row: ProviderRow): ProviderDefinition {
    const { keys, headers } = this.#tryUnseal(row);
    const settings = { ...row.settings, headers };
    return defineProvider(settings, { name: row.name, origin: 'api', keys });
  }

  /** A provider without its secrets is refused by the other side, which is seen; nothing else is. */
  #tryUnseal(row: ProviderRow): Secrets {
    try {
      return this.#unseal(row);
    } catch (error) {
      const reason = Fault.from(error).message;
      this.#options.log.error({ provider: row.name, reason }, 'the keys of a provider are lost');
      return noSecrets;
    }
  }

  #unseal({ name, secrets }: ProviderRow): Secrets {
    if (secrets === null || !this.#sealer) return noSecrets;
    // Written by `seal`, and authentic.
    return JSON.parse(this.#sealer.unseal(secrets, contextOf(name)).toString()) as Secrets;
  }
}

/** Undefined where the stored secrets were given for another origin. */
function keepableSecrets(
  before: ProviderRow,
  { baseUrl }: ProviderSettings,
  unseal: () => Secrets,
): Secrets | undefined {
  const isSameOrigin = new URL(before.settings.baseUrl).origin === new URL(baseUrl).origin;
  if (isSameOrigin) return unseal();
  return before.secrets === null ? noSecrets : undefined;
}

function mergeSecrets(settings: ProviderSettings, kept: Secrets | undefined): Secrets {
  const headers = Object.entries(settings.headers ?? {}).map(([name, value]) => {
    if (value !== hiddenValue) return [name, value] as const;
    const stored = kept?.headers[name];
    if (stored === undefined) throw badSetting(`headers.${name}`, 'has no stored value to keep');
    return [name, stored] as const;
  });
  return { keys: keysOf(settings, kept), headers: Object.fromEntries(headers) };
}

function keysOf({ apiKey, apiKeys }: ProviderSettings, kept: Secrets | undefined) {
  if (apiKeys) return apiKeys;
  if (apiKey !== undefined) return apiKey === null ? [] : [apiKey];
  if (kept) return kept.keys;
  const message = 'apiKey must be given again for another origin, or be null';
  const detail = { param: 'apiKey' };
  throw new Fault('invalid', message, { reason: 'api_key_required', detail });
}

function isEmpty({ keys, headers }: Secrets): boolean {
  return keys.length === 0 && Object.keys(headers).length === 0;
}

function seal(sealer: Sealer, name: string, secrets: Secrets): string {
  return sealer.seal(Buffer.from(JSON.stringify(secrets)), contextOf(name));
}

function contextOf(name: string): string {
  return `gateway provider ${name}`;
}
