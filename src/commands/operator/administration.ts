import type { Command } from 'commander';
import { setMaxListeners, type EventEmitter } from 'node:events';
import { printJson } from '../output.ts';
import type { AdministrationOptions, Work } from './work.ts';

/** Adds a command with the options that all of administration has, and its example to both helps. */
export function addCommand(group: Command, usage: string, example: string): Command {
  const isFirst = group.commands.length === 0;
  const command = group.command(usage);
  const line = `  ennead ${group.name()} ${command.name()} ${example}`.trimEnd();
  // Each example is a listener, and Node.js takes more than ten for a leak. A Command is an emitter,
  // which its types do not say.
  setMaxListeners(0, group as unknown as EventEmitter);
  group.addHelpText('after', isFirst ? `\nExamples:\n${line}` : line);
  return command
    .option('--json', 'print the answer as JSON, for programs')
    .option('--token <token>', 'access token or API key; ENNEAD_TOKEN keeps it off the screen')
    .option('--otp <code>', 'six digits of the authenticator app, or a recovery code')
    .addHelpText('after', `\nExample:\n${line}`);
}

// What talks to auth is loaded by the command that needs it, so that help and version come at once.

/**
 * Does the work with a client of auth that has the operator's identity. What auth refuses is thrown
 * as a Fault whose sentence says what to change.
 */
export async function administer(options: AdministrationOptions, work: Work): Promise<void> {
  const { workAsOperator } = await import('./connection.ts');
  process.exitCode = await workAsOperator(options, work);
}

/** Does the work with a client that names nobody. */
export async function ask(work: Work): Promise<void> {
  const { workAsNobody } = await import('./connection.ts');
  process.exitCode = await workAsNobody(work);
}

/** Prints an answer for machines or for people, as the operator asked. */
export function show<Answer>(
  { json }: AdministrationOptions,
  answer: Answer,
  print: (answer: Answer) => void,
): void {
  if (json) printJson(answer);
  else print(answer);
}
