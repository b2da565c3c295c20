import { Command } from 'commander';
import type { authContract } from '../../auth/contract.ts';
import type { AnswerOf } from '../../kit/contract.ts';
import { addCommand, administer, show } from '../operator/administration.ts';
import type { AdministrationOptions } from '../operator/work.ts';
import type { AuthClient } from '../operator/auth-session.ts';
import { printFacts, printTable, type Column } from '../output.ts';
import { parseCount, readItems, remarkOnRest } from '../pages.ts';

type SigningKey = AnswerOf<typeof authContract.routes.listKeys>['keys'][number];

interface ListOptions extends AdministrationOptions {
  readonly limit: number;
}

interface RevokeOptions extends AdministrationOptions {
  readonly reason?: string;
}

/** `ennead keys …` */
export function keysCommand(): Command {
  const group = new Command('keys').description('administer the keys that sign tokens');
  addCommand(group, 'list', '--json')
    .description('list signing keys, the newest first')
    .option('--limit <count>', 'at most so many keys', parseCount, 100)
    .action((options: ListOptions) => administer(options, (client) => list(client, options)));
  addCommand(group, 'rotate', '')
    .description('let the next signing key take over now; no token ends')
    .action((options: AdministrationOptions) =>
      administer(options, async (client) => {
        show(options, await client.rotateKey({ body: {} }), (answer) => printFacts({ ...answer }));
      }),
    );
  addCommand(group, 'revoke <kid>', 'wq3… --reason "key file was copied"')
    .description('end a signing key that others may know, and every token that it signed')
    .option('--reason <text>', 'why, for the audit log')
    .action((kid: string, options: RevokeOptions) =>
      administer(options, async (client) => {
        const { reason } = options;
        const body = reason === undefined ? {} : { reason };
        const answer = await client.revokeKey({ params: { kid }, body });
        show(options, answer, () => printFacts({ ...answer }));
      }),
    );
  return group;
}

async function list(client: AuthClient, options: ListOptions): Promise<void> {
  const listed = await readItems(options.limit, async (query) => {
    const { keys, total: all } = await client.listKeys({ query });
    return { items: keys, total: all };
  });
  show(options, { keys: listed.items, ...listed.rest }, () => {
    printTable(listed.items, columns);
    remarkOnRest(listed);
  });
}

const columns: readonly Column<SigningKey>[] = [
  { title: 'KID', of: ({ kid }) => kid },
  { title: 'STATE', of: ({ state }) => state },
  { title: 'CREATED', of: ({ createdAt }) => createdAt },
  { title: 'STATE SINCE', of: ({ stateChangedAt }) => stateChangedAt },
];
