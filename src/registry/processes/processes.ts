import { join } from 'node:path';
import type { ConfigOf, Environment } from '../../kit/config.ts';
import type { Log } from '../../kit/log.ts';
import { AllowList } from './allow-list.ts';
import { detectLauncher } from './bounds.ts';
import type { processSettings } from './settings.ts';
import { Supervision } from './supervision.ts';

export interface ProcessOptions {
  readonly config: ConfigOf<typeof processSettings>;
  /** The suite's data folder. */
  readonly dataFolder: string;
  /** This process's own environment. */
  readonly environment: Environment;
  readonly log: Log;
}

export interface Processes {
  /** Asked at registration and at every change; the supervision asks again before each start. */
  readonly allowList: AllowList;
  readonly supervision: Supervision;
}

const mebibyte = 1_048_576;
const niceness = 5;
const processesMax = 256;

/**
 * All that running commands needs. Throws Fault `invalid` (`bad_setting`) when the operator's list is
 * not understood. Dispose of `supervision` at the end.
 */
export async function openProcesses(options: ProcessOptions): Promise<Processes> {
  const { config, dataFolder, environment, log } = options;
  const allowList = new AllowList(config.stdioAllow, environment['PATH'] ?? '');
  if (allowList.missing.length > 0) {
    log.warn({ commands: allowList.missing }, 'allowed commands that this host does not have');
  }
  const memoryMaxBytes = config.childMemoryMb * mebibyte;
  const supervision = await Supervision.open({
    allowList,
    folder: join(dataFolder, 'registry', 'processes'),
    environment,
    launcher: await detectLauncher({ memoryBytes: memoryMaxBytes, processesMax, niceness }),
    childrenMax: config.childrenMax,
    memoryMaxBytes,
    processesMax,
    frameMaxBytes: config.frameMaxBytes,
    log,
  });
  return { allowList, supervision };
}
