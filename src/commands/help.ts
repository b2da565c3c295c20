import type { Command } from 'commander';

/** What a command line asks for: `help users list` is `users list --help`. */
export function wordsOf([first, ...rest]: readonly string[]): readonly string[] {
  if (first === undefined) return [];
  return first === 'help' && rest.length > 0 ? [...rest, '--help'] : [first, ...rest];
}

/** Has help for a command that is not there end as that command would, not as the help of all. */
export function refuseUnknownHelp(program: Command): void {
  program.addHelpText('beforeAll', ({ command, error }) => {
    const name = nameIn(command.args, error);
    if (name !== undefined && isUnknown(name, command)) command.parse([name], { from: 'user' });
    return '';
  });
}

/** The command whose help is asked for, by `--help` behind it or `help` before it. */
function nameIn([first, second]: readonly string[], isFailure: boolean): string | undefined {
  if (isFailure) return first === 'help' ? second : undefined;
  return first === 'help' ? undefined : first;
}

function isUnknown(name: string, { commands }: Command): boolean {
  if (name.startsWith('-') || commands.length === 0) return false;
  return commands.every((command) => command.name() !== name);
}
