import type { AnswerOf } from '../../kit/contract.ts';
import type { connectionRoutes } from '../../registry/schemas/connections.ts';
import type { exchangeRoutes } from '../../registry/schemas/exchange.ts';
import { printFacts, printLine, printTable, type Column } from '../output.ts';

type Summary = AnswerOf<typeof connectionRoutes.listConnections>['connections'][number];
type Detail = AnswerOf<typeof connectionRoutes.getConnection>;
type Imported = AnswerOf<typeof exchangeRoutes.importConnections>;

/** Prints what became of each entry of a file. */
export function printImport({ imported, skipped, errors, dryRun }: Imported): void {
  const done = dryRun ? 'would be imported' : 'imported';
  for (const { name, needs, unknown = [] } of imported) {
    const passedOver = after(', without its ', unknown);
    printLine(`${name}: ${done}${after(', lacks ', needs)}${passedOver}`);
  }
  for (const { name, reason, needs = [], unknown = [] } of skipped) {
    printLine(`${name}: skipped, ${reason}${after(': ', [...needs, ...unknown])}`);
  }
  for (const { name, message } of errors) printLine(`${name}: refused, ${message}`);
}

function after(words: string, names: readonly string[]): string {
  return names.length > 0 ? words + names.join(', ') : '';
}

/** Prints all that is known of a connection. */
export function printConnection(detail: Detail): void {
  const { endpoint, health, metrics, server, approval, capabilities } = detail;
  const isWaiting = approval !== undefined && !approval.approved;
  printFacts({
    id: detail.id,
    name: detail.name,
    type: detail.type,
    endpoint: endpoint && `${detail.protocol} ${targetOf(endpoint)}`,
    status: detail.status,
    health: health.reason ? `${health.status}, ${health.reason}` : health.status,
    checked: health.lastCheck ?? 'not yet',
    server: server && `${server.name} ${server.version}, MCP ${server.protocolVersion}`,
    approval: isWaiting ? 'somebody with registry:execute must approve the command' : undefined,
    quarantined: detail.quarantined.join(', '),
    calls: `${metrics.totalRequests}, ${metrics.averageLatency} ms on average, p95 ${metrics.p95Latency} ms`,
    registered: `${detail.createdAt} by ${detail.ownerId}`,
    disconnected: detail.disconnectedAt,
  });
  if (capabilities.length === 0) return;
  printLine('');
  printTable(capabilities, [
    { title: 'CAPABILITY', of: ({ name }) => name },
    { title: 'WHAT IT DOES', of: ({ description }) => description?.split('\n')[0]?.slice(0, 100) },
  ]);
}

type Endpoint = NonNullable<Detail['endpoint']>;

function targetOf({ command, args = [], url }: Endpoint): string {
  return url ?? [command, ...args].join(' ');
}

/** What a list shows of a connection. */
export const connectionColumns: readonly Column<Summary>[] = [
  { title: 'NAME', of: ({ name }) => name },
  { title: 'TYPE', of: ({ type }) => type },
  { title: 'PROTOCOL', of: ({ protocol }) => protocol },
  { title: 'STATUS', of: ({ status }) => status },
  { title: 'HEALTH', of: ({ health }) => health.reason ?? health.status },
  { title: 'CAPABILITIES', of: ({ capabilities }) => capabilities.length },
  { title: 'ID', of: ({ id }) => id },
];
