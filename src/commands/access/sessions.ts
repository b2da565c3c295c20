import { Command } from 'commander';
import type { authContract } from '../../auth/contract.ts';
import type { AnswerOf } from '../../kit/contract.ts';
import { Fault } from '../../kit/errors.ts';
import { addCommand, administer, show } from '../operator/administration.ts';
import type { AdministrationOptions } from '../operator/work.ts';
import type { AuthClient } from '../operator/auth-session.ts';
import { printLine, printTable, type Column } from '../output.ts';
import { parseCount, readItems, remarkOnRest } from '../pages.ts';
import { findUser } from './users.ts';

type Session = AnswerOf<typeof authContract.routes.listSessions>['sessions'][number];

interface ListOptions extends AdministrationOptions {
  readonly limit: number;
  readonly user?: string;
}

interface EndOptions extends AdministrationOptions {
  readonly user?: string;
  readonly all?: boolean;
}

/** `ennead sessions …` */
export function sessionsCommand(): Command {
  const group = new Command('sessions').description('see and end open login sessions');
  addCommand(group, 'list', '--user alice')
    .description('list open sessions, your own unless a user is named')
    .option('--user <user>', 'whose sessions, by id or name')
    .option('--limit <count>', 'at most so many sessions', parseCount, 100)
    .action((options: ListOptions) => administer(options, (client) => list(client, options)));
  addCommand(group, 'end [id]', '--user alice --all')
    .description('end a session, or all of a user; their tokens end within a second')
    .option('--user <user>', 'whose sessions, by id or name; takes --all')
    .option('--all', 'all sessions of --user')
    .action((id: string | undefined, options: EndOptions) => end(id, options));
  return group;
}

async function list(client: AuthClient, options: ListOptions): Promise<void> {
  const { user } = options;
  const whose = user === undefined ? {} : { userId: (await findUser(client, user)).id };
  const listed = await readItems(options.limit, async (page) => {
    const { sessions, total: all } = await client.listSessions({ query: { ...page, ...whose } });
    return { items: sessions, total: all };
  });
  show(options, { sessions: listed.items, ...listed.rest }, () => {
    printTable(listed.items, columns);
    remarkOnRest(listed);
  });
}

/** Ends what was named exactly: a forgotten word must not end more than was meant. */
async function end(id: string | undefined, options: EndOptions): Promise<void> {
  const { user, all = false } = options;
  if (id !== undefined && user === undefined && !all) {
    return administer(options, (client) => endOne(client, id, options));
  }
  if (id === undefined && user !== undefined && all) {
    return administer(options, (client) => endAll(client, user, options));
  }
  throw new Fault('invalid', 'name either the id of one session, or --user <user> and --all');
}

async function endOne(client: AuthClient, id: string, options: EndOptions): Promise<void> {
  const answer = await client.endSession({ params: { id } });
  show(options, answer, () => printLine(`ended ${answer.id}`));
}

async function endAll(client: AuthClient, user: string, options: EndOptions): Promise<void> {
  const { id: userId, username } = await findUser(client, user);
  const answer = await client.endSessions({ query: { userId } });
  show(options, answer, ({ ended }) => printLine(`ended ${ended} of ${username}`));
}

const columns: readonly Column<Session>[] = [
  { title: 'ID', of: ({ id }) => id },
  { title: 'USER', of: ({ userId }) => userId },
  { title: 'CLIENT', of: ({ clientId }) => clientId },
  { title: 'CREATED', of: ({ createdAt }) => createdAt },
  { title: 'LAST USED', of: ({ lastUsedAt }) => lastUsedAt },
  { title: '', of: ({ current }) => (current ? 'this one' : '') },
];
