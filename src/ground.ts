import { isIP } from 'node:net';
import { resolve } from 'node:path';
import type { AddressBook } from './addresses.ts';
import type { Bus } from './kit/bus/bus.ts';
import { openBus } from './kit/bus/open-bus.ts';
import { openDatabase, type Database } from './kit/database/database.ts';
import { createEgress, type Egress } from './kit/egress/egress.ts';
import type { Lifetime } from './kit/lifecycle.ts';
import type { Log } from './kit/log.ts';
import { availableMemoryBytes } from './kit/memory.ts';
import type { Service } from './kit/service.ts';
import { SpanExporter } from './kit/trace/trace-export.ts';
import { issuer, spanReceiver } from './services.ts';
import type { SuiteConfig } from './suite-settings.ts';
import { Trust } from './trust.ts';

/** What stands in a process before any service does. */
export interface Ground {
  readonly dataFolder: string;
  readonly serviceKeysFolder: string;
  readonly database: Database;
  readonly bus: Bus;
  readonly egress: Egress;
  readonly trust: Trust;
  readonly exporter: SpanExporter;
}

export interface GroundOptions {
  /** Locked by who opens the ground. */
  readonly dataFolder: string;
  readonly config: SuiteConfig;
  readonly addresses: AddressBook;
  /** In the order in which they start. */
  readonly hosted: readonly Service[];
  readonly log: Log;
  /** Closes what was opened. */
  readonly lifetime: Lifetime;
  readonly onProgress: (step: string) => void;
}

/** Opens the database and the bus, migrates, and makes what services share. */
export async function openGround(options: GroundOptions): Promise<Ground> {
  const { dataFolder, config, log, lifetime, onProgress } = options;
  onProgress('opening the database');
  const where = databaseOf(config, dataFolder);
  const database = lifetime.own('the database', await openDatabase({ ...where, log }));
  onProgress('migrating');
  await migrate(database, options.hosted);
  const natsUrl = config.natsUrl?.reveal();
  const bus = lifetime.own('the bus', await openBus({ log, ...(natsUrl ? { url: natsUrl } : {}) }));
  const egress = lifetime.own('egress', createEgress(egressPolicyOf(config), { log }));
  const serviceKeysFolder = resolve(
    config.serviceKeysFolder ?? resolve(dataFolder, 'service-keys'),
  );
  const trust = lifetime.own('trust', createTrust(options, bus, serviceKeysFolder));
  const exporter = lifetime.own('the span exporter', createExporter(options, trust));
  return { dataFolder, serviceKeysFolder, database, bus, egress, trust, exporter };
}

/** Where the settings put the database, how much memory it has and how long it may take to answer. */
export function databaseOf(config: SuiteConfig, dataFolder: string) {
  const { databaseUrl, databaseCacheMegabytes, statementSeconds } = config;
  if (!databaseUrl) {
    const cacheMegabytes = databaseCacheMegabytes ?? cacheMegabytesFor(availableMemoryBytes());
    return { folder: resolve(dataFolder, 'postgres'), cacheMegabytes };
  }
  return { url: databaseUrl.reveal(), statementTimeoutMs: statementSeconds * 1000 };
}

/** A 256th of the memory: whoever has little wants it for models. */
export function cacheMegabytesFor(memoryBytes: number): number {
  return Math.min(64, Math.max(32, Math.floor(memoryBytes / 2 ** 28)));
}

/** Applies the migrations of services; answers what was newly applied, `<service>/<file>`. */
export async function migrate(
  database: Database,
  hosted: readonly Service[],
): Promise<readonly string[]> {
  const applied: string[] = [];
  for (const { contract, migrations } of hosted) {
    if (!migrations) continue;
    const names = await database.migrate(contract.name, migrations);
    applied.push(...names.map((name) => `${contract.name}/${name}`));
  }
  return applied;
}

function egressPolicyOf({ egressAllow, host }: SuiteConfig) {
  const ranges = egressAllow.split(',').map((range) => range.trim());
  return { allow: ranges.filter((range) => range !== ''), isLoopbackAllowed: isLoopback(host) };
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

function createTrust(options: GroundOptions, bus: Bus, serviceKeysFolder: string): Trust {
  const { addresses, hosted, log } = options;
  return new Trust({
    issuerUrl: addresses.urlOf(issuer.contract.name),
    isIssuerHere: hosted.includes(issuer),
    reader: nameOfProcess(hosted),
    serviceKeysFolder,
    bus,
    log,
  });
}

function createExporter({ addresses, hosted }: GroundOptions, trust: Trust): SpanExporter {
  return new SpanExporter({
    url: addresses.urlOf(spanReceiver.contract.name),
    token: trust.serviceToken(nameOfProcess(hosted)).get,
  });
}

/** The service in whose name a process does what all its services need. */
function nameOfProcess([first]: readonly Service[]): string {
  return (first ?? issuer).contract.name;
}
