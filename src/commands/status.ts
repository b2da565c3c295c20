import { processEnvironment } from '../kit/config.ts';
import { addressBook } from '../addresses.ts';
import { checkHealth, type ServiceHealth } from '../health.ts';
import { readConfiguration } from '../settings.ts';
import { formatUptime } from '../status-page.ts';

/** Prints how all services are; the exit code is 1 unless all are healthy. */
export async function status(options: { readonly json?: boolean }): Promise<number> {
  const addresses = addressBook(readConfiguration(processEnvironment(), []), []);
  const healths = await checkHealth(addresses);
  const text = options.json ? JSON.stringify({ services: healths }, null, 2) : tableOf(healths);
  process.stdout.write(`${text}\n`);
  return healths.every((health) => health.status === 'healthy') ? 0 : 1;
}

function tableOf(healths: readonly ServiceHealth[]): string {
  return healths.map(lineOf).join('\n');
}

function lineOf(health: ServiceHealth): string {
  const { name, version, uptime, url, error } = health;
  const up = uptime === undefined ? '' : formatUptime(uptime);
  const columns = [
    name.padEnd(9),
    health.status.padEnd(11),
    (version ?? '').padEnd(6),
    up.padEnd(11),
    url,
  ];
  return columns.join('  ') + (error ? `  (${error})` : '');
}
