import { access, constants, statfs } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { resolve } from 'node:path';
import { openBus } from '../../kit/bus/open-bus.ts';
import { processEnvironment, unknownVariables } from '../../kit/config.ts';
import { makeFolder } from '../../kit/database/data-folder.ts';
import { openDatabase } from '../../kit/database/database.ts';
import { createLog } from '../../kit/log.ts';
import { availableMemoryBytes } from '../../kit/memory.ts';
import { addressBook } from '../../addresses.ts';
import { checkHealth } from '../../health.ts';
import { tryPort } from '../../ports.ts';
import { services } from '../../services.ts';
import { readConfiguration, settingGroups, type Configuration } from '../../settings.ts';
import { checkModels } from './doctor-models.ts';
import { bad, good, warning, type Finding } from './finding.ts';

type Check = (config: Configuration) => Promise<Finding[]>;

const gib = 1024 ** 3;
const marks = { good: 'ok', warning: 'warning', bad: 'FAILED' } as const;

/** In the order in which they are made; the names are those that programs are told. */
const checks: readonly (readonly [string, Check])[] = [
  ['node', checkNode],
  ['settings', checkSettings],
  ['memory', checkMemory],
  ['dataFolder', checkDataFolder],
  ['disk', checkDisk],
  ['ports', checkPorts],
  ['database', checkDatabase],
  ['bus', checkBus],
  ['models', checkModels],
];

/** Checks what the suite needs of this machine; the exit code is 1 when something must be changed. */
export async function doctor(options: { readonly json?: boolean } = {}): Promise<number> {
  const config = readConfiguration(processEnvironment(), services);
  const found: (Finding & { readonly check: string })[] = [];
  for (const [check, examine] of checks) {
    for (const finding of await examine(config)) {
      found.push({ check, ...finding });
      if (!options.json) printLine(finding);
    }
  }
  const isSound = found.every(({ level }) => level !== 'bad');
  if (options.json) {
    process.stdout.write(`${JSON.stringify({ isSound, findings: found }, null, 2)}\n`);
  }
  return isSound ? 0 : 1;
}

function printLine({ level, text }: Finding): void {
  process.stdout.write(`${marks[level].padEnd(8)} ${text}\n`);
}

async function checkNode(): Promise<Finding[]> {
  const version = process.versions.node;
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const facts = { version };
  if (major > 20 || (major === 20 && minor >= 19)) return [good(`Node.js ${version}`, facts)];
  return [bad(`Node.js ${version}: 20.19 or newer is needed`, facts)];
}

async function checkSettings(): Promise<Finding[]> {
  const unknown = unknownVariables(settingGroups(), processEnvironment());
  if (unknown.length === 0) return [good('all settings are valid')];
  return unknown.map((variable) =>
    warning(`${variable} is no setting and is ignored; see gen/config.md`, { variable }),
  );
}

async function checkMemory(): Promise<Finding[]> {
  const [bytes, machineBytes] = [availableMemoryBytes(), totalmem()];
  const limit =
    bytes < machineBytes
      ? `, the limit of this process; the machine has ${inGib(machineBytes)}`
      : '';
  const text = `${inGib(bytes)} of memory${limit}`;
  const facts = { bytes, machineBytes };
  if (bytes >= 2 * gib) return [good(text, facts)];
  return [warning(`${text}: models will hardly fit below 2 GiB`, facts)];
}

function inGib(bytes: number): string {
  return `${(bytes / gib).toFixed(1)} GiB`;
}

async function checkDataFolder({ suite }: Configuration): Promise<Finding[]> {
  const folder = resolve(suite.dataFolder);
  try {
    await makeFolder(folder);
    await access(folder, constants.R_OK | constants.W_OK);
    return [good(`the data folder ${folder} can be written`, { path: folder })];
  } catch {
    const whatToDo = 'change its owner or set ENNEAD_DATA_DIR';
    return [bad(`the data folder ${folder} cannot be written: ${whatToDo}`, { path: folder })];
  }
}

async function checkDisk({ suite }: Configuration): Promise<Finding[]> {
  const disk = await statfs(resolve(suite.dataFolder)).catch(() => undefined);
  if (!disk) return [];
  const freeBytes = disk.bavail * disk.bsize;
  const text = `${inGib(freeBytes)} free on the data folder's disk`;
  if (freeBytes >= gib) return [good(text, { freeBytes })];
  return [warning(`${text}: at least 1 GiB is wanted`, { freeBytes })];
}

async function checkPorts(config: Configuration): Promise<Finding[]> {
  const addresses = addressBook(config, services);
  const healths = await checkHealth(addresses);
  const running = [...new Set(healths.filter(({ error }) => !error).map(({ name }) => name))];
  if (running.length > 0) return [good(`the suite is running: ${running.join(', ')}`, { running })];
  const taken: Finding[] = [];
  for (const [service, port] of addresses.portsHere(true)) {
    const isFree = await tryPort(config.suite.host, port).then(
      () => true,
      () => false,
    );
    if (isFree) continue;
    const text = `port ${port} (${service}) is taken: free it or set ENNEAD_PORT_BASE`;
    taken.push(bad(text, { service, port }));
  }
  return taken.length > 0 ? taken : [good('all ports are free')];
}

async function checkDatabase({ suite }: Configuration): Promise<Finding[]> {
  const url = suite.databaseUrl?.reveal();
  if (!url) return [good('the database is PGlite in the data folder', { database: 'pglite' })];
  try {
    const database = await openDatabase({ url });
    const latencyMs = await database.ping();
    await database[Symbol.asyncDispose]();
    const facts = { database: 'postgresql', latencyMs };
    return [good(`PostgreSQL answers in ${latencyMs.toFixed(1)} ms`, facts)];
  } catch (error) {
    const text = `ENNEAD_DATABASE_URL: ${(error as Error).message}`;
    return [bad(text, { database: 'postgresql' })];
  }
}

async function checkBus({ suite }: Configuration): Promise<Finding[]> {
  const url = suite.natsUrl?.reveal();
  if (!url) return [good('the event bus is within the process', { bus: 'process' })];
  try {
    const log = createLog({ level: 'silent', isPretty: false });
    const bus = await openBus({ url, log });
    const latencyMs = await bus.ping();
    await bus[Symbol.asyncDispose]();
    return [good(`NATS answers in ${latencyMs.toFixed(1)} ms`, { bus: 'nats', latencyMs })];
  } catch (error) {
    return [bad(`ENNEAD_NATS_URL: ${(error as Error).message}`, { bus: 'nats' })];
  }
}
