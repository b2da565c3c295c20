import type { StdioEndpoint } from './connection.ts';
import { redactEndpoint } from './redaction.ts';

/**
 * A command as who agrees to it saw it: with `***` where a value is hidden. Nothing at all agrees to
 * whatever stands there; a command or arguments without `env` say that no variables were seen.
 */
export interface AgreedCommand {
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** Which members of a command are not what was seen of it. */
export function findUnseen(agreed: AgreedCommand, endpoint: StdioEndpoint): readonly string[] {
  const shown = redactEndpoint({ endpoint });
  const { args: shownArgs, env: shownEnv = {} } =
    shown && 'command' in shown ? shown : { args: [] };
  const { command, args, env: given } = agreed;
  const env = given ?? (command === undefined && args === undefined ? undefined : {});
  const isSeen = {
    command: command === undefined || command === endpoint.command,
    args: args === undefined || isSeenList(args, [endpoint.args, shownArgs]),
    env: env === undefined || isSeenValues(env, [endpoint.env ?? {}, shownEnv]),
  };
  return Object.entries(isSeen).flatMap(([name, isSame]) => (isSame ? [] : [name]));
}

type Pair<T> = readonly [real: T, shown: T];

function isSeenList(seen: readonly string[], [real, shown]: Pair<readonly string[]>): boolean {
  if (seen.length !== real.length) return false;
  return seen.every((value, at) => value === real[at] || value === shown[at]);
}

function isSeenValues(
  seen: Readonly<Record<string, string>>,
  [real, shown]: Pair<Readonly<Record<string, string>>>,
): boolean {
  const names = Object.keys(seen);
  if (names.length !== Object.keys(real).length) return false;
  return names.every(
    (name) =>
      Object.hasOwn(real, name) && (seen[name] === real[name] || seen[name] === shown[name]),
  );
}
