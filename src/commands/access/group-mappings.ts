import { Command } from 'commander';
import type { authContract } from '../../auth/contract.ts';
import type { AnswerOf } from '../../kit/contract.ts';
import { Fault } from '../../kit/errors.ts';
import { addCommand, administer, show } from '../operator/administration.ts';
import type { AdministrationOptions } from '../operator/work.ts';
import type { AuthClient } from '../operator/auth-session.ts';
import { countOf, printLine, printTable, type Column } from '../output.ts';

type Answer = AnswerOf<typeof authContract.routes.replaceGroupMappings>;
type Preview = Extract<Answer, { readonly dryRun: true }>;
type Mapping = Preview['added'][number];

interface ApplyOptions extends AdministrationOptions {
  readonly dryRun?: boolean;
}

/** `ennead mappings …` */
export function mappingsCommand(): Command {
  const group = new Command('mappings').description('what groups of identity providers may do');
  addCommand(group, 'show', '--json > mappings.json')
    .description('show the role and the permissions that each group gives')
    .action((options: AdministrationOptions) =>
      administer(options, async (client) => {
        const answer = await client.listGroupMappings({});
        show(options, answer, ({ mappings }) => printTable(mappings, columns));
      }),
    );
  addCommand(group, 'apply <file>', 'mappings.json --dry-run')
    .description('replace all mappings by those of a JSON file (- is standard input)')
    .option('--dry-run', 'print the difference and change nothing')
    .action((path: string, options: ApplyOptions) =>
      administer(options, (client) => apply(client, path, options)),
    );
  return group;
}

/** Shows what differs, whether or not it is then changed. */
async function apply(client: AuthClient, path: string, options: ApplyOptions): Promise<void> {
  const { readJson, requireBody } = await import('../json-file.ts');
  const body = requireBody(await readJson(path), 'replaceGroupMappings', path);
  const preview = await client.replaceGroupMappings({ query: { dryRun: true }, body });
  if (!isPreview(preview)) throw new Fault('upstream', 'auth did not answer the difference');
  if (!options.dryRun) await client.replaceGroupMappings({ query: { dryRun: false }, body });
  show(options, { ...preview, dryRun: options.dryRun ?? false }, () => {
    printDifference(preview);
    printLine(options.dryRun ? 'nothing was changed' : 'applied');
  });
}

function isPreview(answer: Answer): answer is Preview {
  return 'dryRun' in answer;
}

function printDifference({ added, removed, changed, ...affected }: Preview): void {
  const lines = [
    ...removed.map((mapping) => `- ${textOf(mapping)}`),
    ...changed.flatMap(({ before, after }) => [`- ${textOf(before)}`, `+ ${textOf(after)}`]),
    ...added.map((mapping) => `+ ${textOf(mapping)}`),
  ];
  printLine(lines.length > 0 ? lines.join('\n') : 'no difference');
  for (const { username, before, after } of affected.affectedUsers) {
    printLine(`  ${username}: ${before.join(',') || 'nothing'} -> ${after.join(',') || 'nothing'}`);
  }
  printLine(`${countOf(affected.affectedTotal, 'user')} may do something else`);
}

function textOf({ idpGroup, platformRole, permissions }: Mapping): string {
  return `${idpGroup} ${platformRole} ${permissions.join(',')}`;
}

const columns: readonly Column<Mapping>[] = [
  { title: 'GROUP', of: ({ idpGroup }) => idpGroup },
  { title: 'ROLE', of: ({ platformRole }) => platformRole },
  { title: 'PERMISSIONS', of: ({ permissions }) => permissions.join(',') },
];
