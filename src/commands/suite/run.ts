import { processEnvironment, unknownVariables } from '../../kit/config.ts';
import { Fault } from '../../kit/errors.ts';
import { endHungUp, untilSignal } from '../../kit/lifecycle.ts';
import type { Service } from '../../kit/service.ts';
import { services } from '../../services.ts';
import { settingGroups } from '../../settings.ts';
import { Suite } from '../../suite.ts';
import { Progress } from '../progress.ts';

const stopLimitMs = 9_500;

/** Starts everything; answers the exit code once it was told to stop. */
export function up(): Promise<number> {
  return host({ hosted: services, hasConsole: true });
}

/** Starts the named services. */
export function run(wanted: readonly string[]): Promise<number> {
  const names = new Set(wanted);
  const hasConsole = names.delete('console');
  const hosted = services.filter(({ contract }) => names.delete(contract.name));
  if (names.size > 0) {
    const known = services.map(({ contract }) => contract.name).join(', ');
    throw new Fault(
      'invalid',
      `there is no service ${[...names].join(', ')}; there are ${known} and console`,
    );
  }
  return host({ hosted, hasConsole });
}

async function host(what: { hosted: readonly Service[]; hasConsole: boolean }): Promise<number> {
  const told = untilSignal(stopLimitMs);
  const stop = new AbortController();
  void told.then(() => stop.abort());
  const environment = processEnvironment();
  warnOfUnknown(unknownVariables(settingGroups(), environment));
  const progress = new Progress();
  try {
    const { signal } = stop;
    const suite = await Suite.open({ ...what, environment, onProgress: progress.show, signal });
    progress.end();
    process.stdout.write(greeting(suite, what.hasConsole));
    await told;
    await suite[Symbol.asyncDispose]();
  } catch (error) {
    // A start that was told to stop has closed what it had opened.
    if (!stop.signal.aborted) throw error;
  } finally {
    progress.end();
  }
  if ((await told) === 'SIGHUP') endHungUp();
  return 0;
}

function warnOfUnknown(names: readonly string[]): void {
  for (const name of names) process.stderr.write(`ennead: ${name} is no setting and is ignored\n`);
}

function greeting(suite: Suite, hasConsole: boolean): string {
  const { addresses } = suite;
  const rows = suite.hosted.map(({ contract }): [string, string] => [
    contract.name,
    addresses.urlOf(contract.name),
  ]);
  const table = [...(hasConsole ? [['console', addresses.consoleUrl] as const] : []), ...rows];
  const lines = table.map(([name, url]) => `  ${name.padEnd(10)} ${url}`);
  const said = suite.announcements.map((line) => `  ${line}`);
  const readyMs = Math.round(performance.now());
  return [
    '',
    ...lines,
    '',
    ...said,
    ...(said.length > 0 ? [''] : []),
    `ready in ${readyMs} ms`,
    '',
  ].join('\n');
}
