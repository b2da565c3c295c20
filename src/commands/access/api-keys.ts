import { Command } from 'commander';
import type { authContract } from '../../auth/contract.ts';
import type { AnswerOf } from '../../kit/contract.ts';
import { addCommand, administer, show } from '../operator/administration.ts';
import type { AdministrationOptions } from '../operator/work.ts';
import type { AuthClient } from '../operator/auth-session.ts';
import { printFacts, printLine, printTable, type Column } from '../output.ts';
import { parseCount, parseWhole, readItems, remarkOnRest } from '../pages.ts';
import { findUser } from './users.ts';

type ApiKey = AnswerOf<typeof authContract.routes.readApiKey>;

interface ListOptions extends AdministrationOptions {
  readonly limit: number;
}

interface CreateOptions extends AdministrationOptions {
  readonly service: string;
  readonly permission: readonly string[];
  readonly days?: number;
  readonly user?: string;
}

interface RotateOptions extends AdministrationOptions {
  readonly overlap?: number;
}

/** `ennead api-keys …` */
export function apiKeysCommand(): Command {
  const group = new Command('api-keys').description('administer API keys');
  addCommand(group, 'list', '--limit 20')
    .description('list API keys, the newest first')
    .option('--limit <count>', 'at most so many keys', parseCount, 100)
    .action((options: ListOptions) => administer(options, (client) => list(client, options)));
  addCreation(group);
  addRenewal(group);
  return group;
}

function addCreation(group: Command): void {
  addCommand(group, 'create <name>', 'nightly --service reports --permission tracer:read')
    .description('create an API key; it is printed this once')
    .requiredOption('--service <service>', 'name of the service that uses it, such as reports')
    .option(
      '--permission <permission...>',
      'what it may do, such as tracer:write; nothing that you may not',
      [],
    )
    .option('--days <days>', 'days until it ends, 1 to 3650; it never ends when absent', parseCount)
    .option('--user <user>', 'make it the key of this user, by id or name')
    .action((name: string, options: CreateOptions) =>
      administer(options, (client) => create(client, name, options)),
    );
}

function addRenewal(group: Command): void {
  addCommand(group, 'rotate <id>', 'key_0198… --overlap 3600')
    .description('give an API key a new secret; it is printed this once')
    .option(
      '--overlap <seconds>',
      'seconds for which the old secret stays good; a day when absent, 0 ends all old ones',
      parseWhole,
    )
    .action((id: string, options: RotateOptions) =>
      administer(options, async (client) => {
        const { overlap } = options;
        const body = overlap === undefined ? {} : { overlapSeconds: overlap };
        show(options, await client.rotateApiKey({ params: { id }, body }), printKey);
      }),
    );
  addCommand(group, 'revoke <id>', 'key_0198…')
    .description('revoke an API key and every token it was traded for')
    .action((id: string, options: AdministrationOptions) =>
      administer(options, async (client) => {
        const key = await client.revokeApiKey({ params: { id } });
        show(options, key, () => printLine(`revoked ${key.name}`));
      }),
    );
}

async function list(client: AuthClient, options: ListOptions): Promise<void> {
  const listed = await readItems(options.limit, async (query) => {
    const { apiKeys, total: all } = await client.listApiKeys({ query });
    return { items: apiKeys, total: all };
  });
  show(options, { apiKeys: listed.items, ...listed.rest }, () => {
    printTable(listed.items, columns);
    remarkOnRest(listed);
  });
}

async function create(client: AuthClient, name: string, options: CreateOptions): Promise<void> {
  const { service, permission, days, user } = options;
  const owner = user === undefined ? undefined : await findUser(client, user);
  const body = {
    name,
    service,
    permissions: [...permission],
    ...(days === undefined ? {} : { expiresInDays: days }),
    ...(owner ? { userId: owner.id } : {}),
  };
  show(options, await client.createApiKey({ body }), printKey);
}

const columns: readonly Column<ApiKey>[] = [
  { title: 'ID', of: ({ id }) => id },
  { title: 'NAME', of: ({ name }) => name },
  { title: 'SERVICE', of: ({ service }) => service },
  { title: 'KIND', of: ({ kind }) => kind },
  { title: 'PERMISSIONS', of: ({ permissions }) => permissions.join(',') },
  { title: 'STATE', of: stateOf },
  { title: 'LAST USED', of: ({ lastUsedAt }) => lastUsedAt ?? 'never' },
];

function stateOf({ revokedAt, expiresAt }: ApiKey): string {
  if (revokedAt) return 'revoked';
  if (!expiresAt) return 'good';
  return Date.parse(expiresAt) <= Date.now() ? 'expired' : `until ${expiresAt}`;
}

function printKey(key: ApiKey & { readonly api_key?: string }): void {
  printFacts({ ...key, permissions: key.permissions.join(', ') });
}
