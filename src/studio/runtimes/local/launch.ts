import { spawn, type ChildProcess } from 'node:child_process';
import { setPriority } from 'node:os';
import type { Environment } from '../../../kit/config.ts';
import { runtimeFault } from '../faults.ts';

export interface LaunchOptions {
  readonly command: readonly string[];
  /** The working folder. */
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Files to which the process writes its number before the program runs. */
  readonly entrances: readonly string[];
  readonly filesMax: number;
  readonly outputs: readonly [stdout: number, stderr: number];
}

/**
 * Starts a program as leader of a session and a process group of its own, already inside its control
 * groups and with its limit of open files. Rejects with `start_failed` when the system starts nothing.
 */
export async function launch(options: LaunchOptions): Promise<ChildProcess> {
  const { command, entrances, filesMax, folder, environment, outputs } = options;
  const parameters = ['-c', script, 'sh', String(filesMax), ...entrances, '--', ...command];
  const child = spawn('/bin/sh', parameters, {
    cwd: folder,
    env: environment,
    detached: true,
    stdio: ['pipe', ...outputs],
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (error) => {
      reject(runtimeFault('start_failed', `the agent's process could not be started`, error));
    });
  });
  yieldToServices(child.pid);
  return child;
}

/*
 * Done by the process itself, so that nothing of the program runs outside its limits. The group of
 * processes is not that of the shell: exec keeps the number.
 */
const script = `
ulimit -n "$1" 2>/dev/null
shift
while [ "$1" != -- ]; do
  echo $$ > "$1" || exit 126
  shift
done
shift
exec "$@"
`;

const niceness = 5;

function yieldToServices(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, niceness);
  } catch {
    // It ended already.
  }
}

const inherited = new Set([
  'HOME',
  'LANG',
  'LOGNAME',
  'NODE_EXTRA_CA_CERTS',
  'PATH',
  'SHELL',
  'TERM',
  'TMPDIR',
  'TZ',
  'USER',
]);

/** What a program sees of our environment: no setting and no secret of the suite. */
export function harmlessVariables(environment: Environment): Record<string, string> {
  const entries = Object.entries(environment).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && (inherited.has(entry[0]) || entry[0].startsWith('LC_')),
  );
  return Object.fromEntries(entries);
}
