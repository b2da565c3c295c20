import { Type } from 'typebox';
import { secretSetting, setting, settingOr, type ConfigOf, type Settings } from './kit/config.ts';

/** The environment of every process of the suite, clients included. */
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
  databaseCacheMegabytes: setting(
    'ENNEAD_DATABASE_CACHE_MB',
    Type.Integer({ minimum: 16, maximum: 1_024 }),
    'PGlite only: megabytes of memory for pages of tables and indexes, taken at the start; absent means a 256th of the memory, at least 32 and at most 64',
  ),
  statementSeconds: settingOr(
    'ENNEAD_DATABASE_STATEMENT_SECONDS',
    { schema: Type.Integer({ minimum: 1, maximum: 3_600 }), or: 10 },
    'PostgreSQL only: seconds that a statement may run; a server that has not answered a second later is taken as away',
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
export function addressSetting(service: string) {
  return setting(
    `ENNEAD_${service.toUpperCase()}_URL`,
    Type.String({ pattern: '^https?://[^/]+$' }),
    `address of ${service} when it runs elsewhere, as callers reach it, e.g. \`http://10.0.0.5:7402\``,
  );
}
