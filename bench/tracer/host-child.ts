// Auth and the tracer as one process of the suite hosts them, on PGlite in the folder or on the
// PostgreSQL server whose URL is given.
import { readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { auth } from '../../src/auth/service.ts';
import { Suite } from '../../src/suite.ts';
import { tracer } from '../../src/tracer/service.ts';
import { findPortBase } from '../harness/free-ports.ts';
import type { Account, HostHello, HostOrder } from './host.ts';

const many = '1000000000';
const password = 'correct horse battery staple';

/** How often the delay of the event loop is looked at; what is said of it is beyond this. */
const delayStepMs = 1;

const [folder = '', databaseUrl] = process.argv.slice(2);
const suite = await Suite.open({
  environment: {
    ENNEAD_DATA_DIR: folder,
    ENNEAD_PORT_BASE: String(await findPortBase()),
    ENNEAD_ADMIN_PASSWORD: password,
    ENNEAD_LOG_LEVEL: 'error',
    RATE_LIMIT_TRACER_PER_MINUTE: many,
    RATE_LIMIT_TRACER_BURST: many,
    RATE_LIMIT_AUTH_PER_MINUTE: many,
    RATE_LIMIT_AUTH_BURST: many,
    ...(databaseUrl ? { ENNEAD_DATABASE_URL: databaseUrl } : {}),
  },
  hosted: [auth, tracer],
  hasConsole: false,
});
const authUrl = suite.addresses.urlOf('auth');
const hello: HostHello = {
  url: suite.addresses.urlOf('tracer'),
  authUrl,
  token: await logIn(),
};
let delay: ReturnType<typeof monitorEventLoopDelay> | undefined;

process.on('message', (order: HostOrder) => void obey(order));
process.on('disconnect', () => process.exit());
process.send?.(hello);

async function logIn(): Promise<string> {
  const answer = await fetch(`${authUrl}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      username: 'admin',
      password,
      client_id: 'bench',
      grant_type: 'password',
    }),
  });
  if (!answer.ok) throw new Error(`nobody can log in: ${await answer.text()}`);
  return ((await answer.json()) as { readonly access_token: string }).access_token;
}

async function obey(order: HostOrder): Promise<void> {
  if (order === 'close') {
    await suite[Symbol.asyncDispose]();
    return process.disconnect();
  }
  const delayP99Ms = delay ? Math.max(0, delay.percentile(99) / 1e6 - delayStepMs) : undefined;
  delay?.disable();
  delay = undefined;
  if (order === 'account, and watch the event loop') {
    delay = monitorEventLoopDelay({ resolution: delayStepMs });
    delay.enable();
  }
  process.send?.(account(delayP99Ms));
}

function account(delayP99Ms: number | undefined): Account {
  const { user, system } = process.cpuUsage();
  const status = readFileSync('/proc/self/status', 'utf8');
  const bytesOf = (field: string) =>
    Number(new RegExp(`^${field}:\\s*(\\d+) kB`, 'm').exec(status)?.[1]) * 1_024;
  return {
    cpuMicros: user + system,
    residentBytes: bytesOf('VmRSS'),
    peakBytes: bytesOf('VmHWM'),
    delayP99Ms,
  };
}
