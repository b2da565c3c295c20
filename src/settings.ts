import { Type } from 'typebox';
import {
  readConfig,
  secretSetting,
  setting,
  settingOr,
  type ConfigOf,
  type Environment,
  type Settings,
} from './kit/config.ts';
import type { Rate } from './kit/rate-limit.ts';
import type { Service } from './kit/service.ts';
import { services } from './services.ts';

export const suiteSettings = {
  host: settingOr(
    'ENNEAD_HOST',
    { schema: Type.String({ minLength: 1 }), or: '127.0.0.1' },
    'address to listen on',
  ),
  portBase: settingOr(
    'ENNEAD_PORT_BASE',
    { schema: Type.Integer({ minimum: 1, maximum: 65_500 }), or: 7400 },
    'port of the console; the services follow it, see the table in the README',
  ),
  dataFolder: settingOr(
    'ENNEAD_DATA_DIR',
    { schema: Type.String({ minLength: 1 }), or: './.ennead' },
    'folder of the database, keys, models and workspaces; one process at a time',
  ),
  serviceKeysFolder: setting(
    'ENNEAD_SERVICE_KEYS_DIR',
    Type.String({ minLength: 1 }),
    'folder of the API keys of service identities, `<service>.key`; `service-keys` in the data folder when absent',
  ),
  databaseUrl: secretSetting(
    'ENNEAD_DATABASE_URL',
    '`postgres://…` puts every service on PostgreSQL 15 or newer; absent means PGlite in the data folder',
  ),
  natsUrl: secretSetting(
    'ENNEAD_NATS_URL',
    '`nats://…` puts the event bus on NATS JetStream; absent means within the process',
  ),
  egressAllow: settingOr(
    'ENNEAD_EGRESS_ALLOW',
    { schema: Type.String({ pattern: '^[0-9a-fA-F.:/, ]*$' }), or: '' },
    'address ranges (CIDR, separated by commas) that webhooks, callbacks and agents may have besides public ones; loopback is allowed while the suite listens on loopback only',
  ),
  token: secretSetting(
    'ENNEAD_TOKEN',
    'access token or API key of who administers from the command line; services never read it',
  ),
  logLevel: settingOr(
    'ENNEAD_LOG_LEVEL',
    {
      schema: Type.Enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']),
      or: 'warn',
    },
    'least level of the log lines on standard error: trace, debug, info, warn, error or silent',
  ),
} satisfies Settings;

export type SuiteConfig = ConfigOf<typeof suiteSettings>;

/** Where a service lives when it is not in this process. */
function addressSetting(service: Service) {
  const { name } = service.contract;
  return setting(
    `ENNEAD_${name.toUpperCase()}_URL`,
    Type.String({ pattern: '^https?://[^/]+$' }),
    `address of ${name} when it runs elsewhere, as callers reach it, e.g. \`http://10.0.0.5:7402\``,
  );
}

function rateSettings({ contract, rate }: Service) {
  const prefix = `RATE_LIMIT_${contract.name.toUpperCase()}`;
  return {
    perMinute: settingOr(
      `${prefix}_PER_MINUTE`,
      { schema: Type.Integer({ minimum: 1 }), or: rate.perMinute },
      `requests a minute that an identity may send to ${contract.name}`,
    ),
    burst: settingOr(
      `${prefix}_BURST`,
      { schema: Type.Integer({ minimum: 1 }), or: rate.burst },
      `requests that an identity may send to ${contract.name} at once`,
    ),
  };
}

/** Every setting there is, in groups: the suite's, addresses, and for each service its own and its rate. */
export function settingGroups(hosted: readonly Service[] = services) {
  const addresses: Settings = Object.fromEntries(
    services.map((service) => [service.contract.name, addressSetting(service)]),
  );
  const own = hosted.map(({ contract, settings }) => [contract.name, settings]);
  const rates = hosted.map((service) => [`${service.contract.name} rate`, rateSettings(service)]);
  return {
    suite: suiteSettings,
    addresses,
    ...(Object.fromEntries([...own, ...rates]) as Readonly<Record<string, Settings>>),
  };
}

/** All settings of a process, read. */
export interface Configuration {
  readonly suite: SuiteConfig;
  readonly addressOf: (service: string) => string | undefined;
  readonly rateOf: (service: string) => Rate;
  readonly ownOf: (service: string) => unknown;
}

/** Reads the settings of a process that hosts these services; throws one Fault with every flaw. */
export function readConfiguration(
  environment: Environment,
  hosted: readonly Service[],
): Configuration {
  const read = readConfig<Readonly<Record<string, Settings>>>(settingGroups(hosted), environment);
  const { suite, addresses = {}, ...rest } = read;
  return {
    suite: suite as SuiteConfig,
    addressOf: (service) => addresses[service] as string | undefined,
    rateOf: (service) => rest[`${service} rate`] as unknown as Rate,
    ownOf: (service) => rest[service],
  };
}
