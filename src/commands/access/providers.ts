import { Command } from 'commander';
import type { authContract } from '../../auth/contract.ts';
import type { AnswerOf } from '../../kit/contract.ts';
import { addCommand, administer, show } from '../operator/administration.ts';
import type { AdministrationOptions } from '../operator/work.ts';
import type { AuthClient } from '../operator/auth-session.ts';
import { printFacts, printLine, printTable, type Column } from '../output.ts';
import { readSecret } from '../operator/secret-input.ts';

type Provider = AnswerOf<typeof authContract.routes.oauthProviders>['providers'][number];

interface ConfigureOptions extends AdministrationOptions {
  readonly secretStdin?: boolean;
}

/** `ennead providers …` */
export function providersCommand(): Command {
  const group = new Command('providers').description('identity providers that users log in with');
  addCommand(group, 'list', '--json')
    .description('list providers; their secrets are never shown')
    .action((options: AdministrationOptions) =>
      administer(options, async (client) => {
        const answer = await client.oauthProviders({});
        show(options, answer, ({ providers }) => printTable(providers, columns));
      }),
    );
  addCommand(group, 'configure <file>', 'gitlab.json --secret-stdin < secret.txt')
    .description('add or replace the provider that a JSON file describes (- is standard input)')
    .option('--secret-stdin', "read the provider's client secret from standard input")
    .action((path: string, options: ConfigureOptions) => configure(path, options));
  addCommand(group, 'remove <provider>', 'gitlab')
    .description('remove a provider; nobody logs in with it any more')
    .action((provider: string, options: AdministrationOptions) =>
      administer(options, (client) => remove(client, provider, options)),
    );
  return group;
}

async function configure(path: string, options: ConfigureOptions): Promise<void> {
  const { readJson, requireBody } = await import('../json-file.ts');
  const given = await readJson(path);
  const wanted = options.secretStdin ? await withSecret(given) : given;
  const body = requireBody(wanted, 'oauthConfigure', path);
  await administer(options, async (client) => {
    show(options, await client.oauthConfigure({ body }), (answer) => printFacts({ ...answer }));
  });
}

/** The description with the secret in its place; what it lacks otherwise is the schema's to say. */
async function withSecret(given: unknown): Promise<unknown> {
  const clientSecret = await readSecret("the provider's client secret");
  const { config, ...rest } = given as { readonly config?: object };
  return { ...rest, config: { ...config, clientSecret } };
}

async function remove(client: AuthClient, provider: string, options: AdministrationOptions) {
  const answer = await client.deleteOAuthProvider({ params: { provider } });
  show(options, answer, () => printLine(`removed ${provider}`));
}

const columns: readonly Column<Provider>[] = [
  { title: 'PROVIDER', of: ({ provider }) => provider },
  { title: 'ADDRESS', of: ({ config }) => config.issuer ?? config.authorizationURL },
  { title: 'CALLBACK', of: ({ config }) => config.callbackURL },
  { title: 'SINCE', of: ({ updatedAt }) => updatedAt ?? 'from the environment' },
];
