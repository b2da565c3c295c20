import { processEnvironment } from '../../kit/config.ts';
import { addressBook } from '../../addresses.ts';
import type { ServiceState } from '../../console/contract.ts';
import { checkHealth } from '../../health.ts';
import { readConfiguration } from '../../settings.ts';

/** Prints how all services are; the exit code is 1 unless all are healthy. */
export async function status(options: { readonly json?: boolean }): Promise<number> {
  const addresses = addressBook(readConfiguration(processEnvironment(), []), []);
  const healths = await checkHealth(addresses);
  const text = options.json ? JSON.stringify({ services: healths }, null, 2) : tableOf(healths);
  process.stdout.write(`${text}\n`);
  return healths.every((health) => health.status === 'healthy') ? 0 : 1;
}

function tableOf(healths: readonly ServiceState[]): string {
  return healths.map(lineOf).join('\n');
}

function lineOf(health: ServiceState): string {
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

/** Seconds as the two largest units: `3 d 4 h`, `5 min 6 s`, `7 s`. */
function formatUptime(seconds: number): string {
  const units = [
    ['d', Math.floor(seconds / 86_400)],
    ['h', Math.floor(seconds / 3600) % 24],
    ['min', Math.floor(seconds / 60) % 60],
    ['s', seconds % 60],
  ] as const;
  const first = units.findIndex(([, amount]) => amount > 0);
  const shown = first === -1 ? units.slice(-1) : units.slice(first, first + 2);
  return shown.map(([unit, amount]) => `${amount} ${unit}`).join(' ');
}
