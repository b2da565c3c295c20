import { Command } from 'commander';
import type { authContract } from '../../auth/contract.ts';
import type { AnswerOf } from '../../kit/contract.ts';
import { Fault } from '../../kit/errors.ts';
import { addCommand, administer, show } from '../operator/administration.ts';
import type { AdministrationOptions } from '../operator/work.ts';
import type { AuthClient } from '../operator/auth-session.ts';
import { printFacts, printRemark, printTable, type Column } from '../output.ts';
import { parseCount, parseWhole, readItems, remarkOnRest, type Page } from '../pages.ts';
import type { VerifiedAudit } from './stopped-audit.ts';
import { timeOption } from '../time-option.ts';
import { findUser } from './users.ts';

type AuditEvent = AnswerOf<typeof authContract.routes.listAudit>['events'][number];

interface ListOptions extends AdministrationOptions {
  readonly limit: number;
  readonly event?: string;
  readonly user?: string;
  readonly client?: string;
  readonly since?: string;
  readonly until?: string;
  readonly offset: number;
}

/** A whole log is read: a million events take about a minute. */
const verificationMs = 600_000;

/** `ennead audit …` */
export function auditCommand(): Command {
  const group = new Command('audit').description('read and check the audit log');
  addCommand(group, 'list', '--event login_failure --since 2026-01-31')
    .description('list events, the newest first')
    .option('--event <type>', 'only events of this type, such as login_failure or user_created')
    .option('--user <user>', 'only events of this user, by id or name')
    .option('--client <id>', 'only events of this client, such as cli')
    .option(
      '--since <time>',
      'only events from this time on: a date, or a time such as 2026-01-31T08:00Z',
      timeOption,
    )
    .option('--until <time>', 'only events up to this time', timeOption)
    .option('--limit <count>', 'at most so many events', parseCount, 100)
    .option('--offset <count>', 'leave out so many of the newest', parseWhole, 0)
    .action((options: ListOptions) => administer(options, (client) => list(client, options)));
  addCommand(group, 'verify', '--json')
    .description('check the hash chain of the log, while the suite runs or while it is stopped')
    .action((options: AdministrationOptions) => verify(options));
  return group;
}

/** Asks auth; when nothing answers at the address of this suite, reads the database itself. */
async function verify(options: AdministrationOptions): Promise<void> {
  const { isStopped, readPlace } = await import('../operator/connection.ts');
  const place = readPlace();
  if (!place.isElsewhere && (await isStopped(place))) {
    const { verifyStoppedAudit } = await import('./stopped-audit.ts');
    const verified = await verifyStoppedAudit(place.suite);
    printRemark('the suite is stopped: the database was read itself');
    process.exitCode = report(options, verified);
    return;
  }
  await administer(options, async (client) =>
    report(options, await client.verifyAudit({}, { timeoutMs: verificationMs })),
  );
}

function report(options: AdministrationOptions, verified: VerifiedAudit): number {
  show(options, verified, ({ head, ...facts }) => {
    printFacts({ ...facts, head: `${head.seq} ${head.hash}` });
  });
  return verified.valid ? 0 : 1;
}

async function list(client: AuthClient, options: ListOptions): Promise<void> {
  const { event, user, client: clientId, since, until } = options;
  const filters = {
    ...(event === undefined ? {} : { eventType: event }),
    ...(user === undefined ? {} : { userId: await idOf(client, user) }),
    ...(clientId === undefined ? {} : { clientId }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
  };
  const read = async (page: Page) => {
    const { events, total } = await client.listAudit({ query: { ...page, ...filters } });
    return { items: events, total };
  };
  const listed = await readItems(options.limit, read, options.offset);
  show(options, { events: listed.items, ...listed.rest }, () => {
    printTable(listed.items, columns);
    remarkOnRest(listed);
  });
}

/** Events outlive their users, so who is not found is asked for as given. */
async function idOf(client: AuthClient, user: string): Promise<string> {
  try {
    return (await findUser(client, user)).id;
  } catch (error) {
    if (error instanceof Fault && error.code === 'not_found') return user;
    throw error;
  }
}

const columns: readonly Column<AuditEvent>[] = [
  { title: 'TIME', of: ({ timestamp }) => timestamp },
  { title: 'EVENT', of: ({ eventType }) => eventType },
  { title: 'USER', of: ({ userId }) => userId },
  { title: 'CLIENT', of: ({ clientId }) => clientId },
  { title: 'ADDRESS', of: ({ ip }) => ip },
  { title: 'PROVIDER', of: ({ metadata }) => metadata.provider },
];
