import { access, constants, statfs } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { resolve } from 'node:path';
import { openBus } from '../../kit/bus/open-bus.ts';
import { processEnvironment, unknownVariables } from '../../kit/config.ts';
import { makeFolder } from '../../kit/database/data-folder.ts';
import { openDatabase } from '../../kit/database/database.ts';
import { createLog } from '../../kit/log.ts';
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

/** Checks what the suite needs of this machine; the exit code is 1 when something must be changed. */
export async function doctor(): Promise<number> {
  const config = readConfiguration(processEnvironment(), services);
  const checks: readonly Check[] = [
    checkNode,
    checkSettings,
    checkMemory,
    checkDataFolder,
    checkDisk,
    checkPorts,
    checkDatabase,
    checkBus,
    checkModels,
  ];
  let exitCode = 0;
  for (const check of checks) {
    for (const { level, text } of await check(config)) {
      process.stdout.write(`${marks[level].padEnd(8)} ${text}\n`);
      if (level === 'bad') exitCode = 1;
    }
  }
  return exitCode;
}

async function checkNode(): Promise<Finding[]> {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const isEnough = major > 20 || (major === 20 && minor >= 19);
  const text = `Node.js ${process.versions.node}${isEnough ? '' : ': 20.19 or newer is needed'}`;
  return [{ level: isEnough ? 'good' : 'bad', text }];
}

async function checkSettings(): Promise<Finding[]> {
  const unknown = unknownVariables(settingGroups(), processEnvironment());
  if (unknown.length === 0) return [good('all settings are valid')];
  return unknown.map((name) => warning(`${name} is no setting and is ignored; see gen/config.md`));
}

async function checkMemory(): Promise<Finding[]> {
  const total = totalmem();
  const text = `${(total / gib).toFixed(1)} GiB of memory`;
  return [total < 2 * gib ? warning(`${text}: models will hardly fit below 2 GiB`) : good(text)];
}

async function checkDataFolder({ suite }: Configuration): Promise<Finding[]> {
  const folder = resolve(suite.dataFolder);
  try {
    await makeFolder(folder);
    await access(folder, constants.R_OK | constants.W_OK);
    return [good(`the data folder ${folder} can be written`)];
  } catch {
    return [
      bad(`the data folder ${folder} cannot be written: change its owner or set ENNEAD_DATA_DIR`),
    ];
  }
}

async function checkDisk({ suite }: Configuration): Promise<Finding[]> {
  const disk = await statfs(resolve(suite.dataFolder)).catch(() => undefined);
  if (!disk) return [];
  const free = disk.bavail * disk.bsize;
  const text = `${(free / gib).toFixed(1)} GiB free on the data folder's disk`;
  return [free < gib ? warning(`${text}: at least 1 GiB is wanted`) : good(text)];
}

async function checkPorts(config: Configuration): Promise<Finding[]> {
  const addresses = addressBook(config, services);
  const healths = await checkHealth(addresses);
  const running = new Set(healths.filter(({ error }) => !error).map(({ name }) => name));
  if (running.size > 0) return [good(`the suite is running: ${[...running].join(', ')}`)];
  const taken: Finding[] = [];
  for (const [name, port] of addresses.portsHere(true)) {
    const isFree = await tryPort(config.suite.host, port).then(
      () => true,
      () => false,
    );
    if (!isFree)
      taken.push(bad(`port ${port} (${name}) is taken: free it or set ENNEAD_PORT_BASE`));
  }
  return taken.length > 0 ? taken : [good('all ports are free')];
}

async function checkDatabase({ suite }: Configuration): Promise<Finding[]> {
  const url = suite.databaseUrl?.reveal();
  if (!url) return [good('the database is PGlite in the data folder')];
  try {
    const database = await openDatabase({ url });
    const ms = await database.ping();
    await database[Symbol.asyncDispose]();
    return [good(`PostgreSQL answers in ${ms.toFixed(1)} ms`)];
  } catch (error) {
    return [bad(`ENNEAD_DATABASE_URL: ${(error as Error).message}`)];
  }
}

async function checkBus({ suite }: Configuration): Promise<Finding[]> {
  const url = suite.natsUrl?.reveal();
  if (!url) return [good('the event bus is within the process')];
  try {
    const log = createLog({ level: 'silent', isPretty: false });
    const bus = await openBus({ url, log });
    const ms = await bus.ping();
    await bus[Symbol.asyncDispose]();
    return [good(`NATS answers in ${ms.toFixed(1)} ms`)];
  } catch (error) {
    return [bad(`ENNEAD_NATS_URL: ${(error as Error).message}`)];
  }
}
