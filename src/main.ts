#!/usr/bin/env -S node --max-semi-space-size=32
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { apiKeysCommand } from './commands/access/api-keys.ts';
import { auditCommand } from './commands/access/audit.ts';
import { certsCommand } from './commands/certificates/certs.ts';
import { connectionsCommand } from './commands/connections/connections.ts';
import { mappingsCommand } from './commands/access/group-mappings.ts';
import { refuseUnknownHelp, wordsOf } from './commands/help.ts';
import { modelsCommand } from './commands/models/models.ts';
import { providersCommand } from './commands/access/providers.ts';
import { sessionsCommand } from './commands/access/sessions.ts';
import { keysCommand } from './commands/access/signing-keys.ts';
import { syncCommand } from './commands/sync/sync.ts';
import { tokensCommand } from './commands/access/tokens.ts';
import { tracesCommand } from './commands/traces/traces.ts';
import { usersCommand } from './commands/access/users.ts';
import { workflowCommand } from './commands/workflow/workflow.ts';
import { Fault } from './kit/errors.ts';
import { serviceNames } from './service-names.ts';

// What a command needs is loaded when it runs, so that help and version come at once.

const program = new Command('ennead')
  .description('Nine cooperating services for running AI agents on one laptop or many machines.')
  .version(readVersion())
  .showHelpAfterError()
  .addHelpText(
    'after',
    '\nExamples:\n' +
      '  ennead up\n' +
      '  ennead run auth gateway\n' +
      '  ennead users create alice --email alice@example.com --role developer\n' +
      '\nEvery setting is an environment variable: see gen/config.md.',
  )
  .addHelpText(
    'afterAll',
    '\nExit code: 0 when done; 1 when refused or not as it should be, with the reason on standard error;\n' +
      '130 or 143 when interrupted (SIGINT, SIGTERM).',
  );

program
  .command('up')
  .description('start all nine services and the console in this process')
  .action(async () => finish(await (await import('./commands/suite/run.ts')).up()));

program
  .command('run')
  .description('start some of the services in this process')
  .argument('<service...>', `what to start: ${serviceNames.join(', ')}, console`)
  .addHelpText(
    'after',
    '\nServices that run elsewhere are found by ENNEAD_<SERVICE>_URL; this process logs in to auth\n' +
      'with the keys in ENNEAD_SERVICE_KEYS_DIR.',
  )
  .action(async (wanted: string[]) =>
    finish(await (await import('./commands/suite/run.ts')).run(wanted)),
  );

program
  .command('status')
  .description('ask all nine services how they are; exit code 1 unless all are healthy')
  .option('--json', 'print the answer as JSON, for programs')
  .action(async (options: { json?: boolean }) =>
    finish(await (await import('./commands/suite/status.ts')).status(options)),
  );

program
  .command('migrate')
  .description('bring the tables of all services up to date, without starting anything')
  .action(async () => finish(await (await import('./commands/suite/migrate.ts')).migrateCommand()));

program
  .command('doctor')
  .description('check this machine and its settings, and say what to do about what is wrong')
  .option('--json', 'print the findings as JSON, for programs')
  .action(async (options: { json?: boolean }) =>
    finish(await (await import('./commands/suite/doctor.ts')).doctor(options)),
  );

const administration = [
  usersCommand,
  apiKeysCommand,
  keysCommand,
  sessionsCommand,
  mappingsCommand,
  auditCommand,
  providersCommand,
  tokensCommand,
  modelsCommand,
  tracesCommand,
  connectionsCommand,
  workflowCommand,
  certsCommand,
  syncCommand,
];

for (const makeCommand of administration) {
  const group = makeCommand().copyInheritedSettings(program);
  for (const command of group.commands) command.copyInheritedSettings(program);
  program.addCommand(group);
}

refuseUnknownHelp(program);

/** The version of the package, which stands beside the folder of this file. */
function readVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

function finish(exitCode: number): void {
  process.exitCode ||= exitCode;
}

/** That of a shell where Ctrl-C ended a question, which raises no signal. */
function exitCodeOf(error: unknown): number {
  return error instanceof Fault && error.reason === 'interrupted' ? 130 : 1;
}

/** Prints why a command failed: a sentence for what the operator can change, a stack for our bugs. */
function explain(error: unknown): void {
  const isOurBug = !(error instanceof Fault) || error.code === 'internal';
  const text = isOurBug ? String(error instanceof Error ? error.stack : error) : error.message;
  for (const line of text.split('\n')) process.stderr.write(`ennead: ${line}\n`);
}

// A reader such as `head` may leave before all is printed; that ends neither a command nor the suite.
process.stdout.on('error', (error: NodeJS.ErrnoException) =>
  finish(error.code === 'EPIPE' ? 0 : 1),
);
// Each further line fails like the first.
process.stdout.once('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return;
  explain(new Fault('unavailable', `standard output cannot be written (${error.code})`));
});

try {
  await program.parseAsync(wordsOf(process.argv.slice(2)), { from: 'user' });
} catch (error) {
  explain(error);
  process.exit(exitCodeOf(error));
}
