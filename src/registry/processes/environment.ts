import type { Environment } from '../../kit/config.ts';
import { Fault } from '../../kit/errors.ts';

/** Variables as a connection gives them. */
export type GivenVariables = Readonly<Record<string, string>>;

const inherited = new Set(['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER', 'LANG']);

/**
 * What a server's process sees: a few harmless variables of this process, none of our settings or
 * secrets, and on top what the connection gives.
 */
export function buildEnvironment(
  base: Environment,
  given: GivenVariables = {},
): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(base)) {
    if (value === undefined || !(inherited.has(name) || name.startsWith('LC_'))) continue;
    // A shell function, as old shells export them.
    if (!value.startsWith('()')) environment[name] = value;
  }
  return { ...environment, ...given };
}

/**
 * Refuses variables by which whoever gives them decides what code runs: the operator allowed a
 * command, not every command that it can be turned into. Throws Fault `invalid`
 * (`variable_not_allowed`, detail `{variable}`).
 */
export function checkGivenVariables(given: GivenVariables = {}): void {
  for (const [name, value] of Object.entries(given)) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      throw refuse(name, 'is no name for an environment variable');
    }
    if (decidesCode.test(name)) throw refuse(name, 'decides what code runs and cannot be given');
    if (value.includes('\0')) throw refuse(name, 'holds a NUL');
  }
}

const prefixes = [
  'LD_',
  'DYLD_',
  'PYTHON',
  'GIT_',
  'PERL5',
  'NPM_CONFIG_',
  'YARN_',
  'PIP_',
  'UV_',
  'BASH_FUNC_',
  'GEM_',
  'BUNDLE_',
  'XDG_CONFIG_',
];
const names = [
  'PATH',
  'HOME',
  'SHELL',
  'NODE_OPTIONS',
  'NODE_PATH',
  'BASH_ENV',
  'ENV',
  'SHELLOPTS',
  'BASHOPTS',
  'IFS',
  'PS4',
  'ZDOTDIR',
  'PERLLIB',
  'RUBYOPT',
  'RUBYLIB',
  'JAVA_TOOL_OPTIONS',
  '_JAVA_OPTIONS',
  'JDK_JAVA_OPTIONS',
  'DOTNET_STARTUP_HOOKS',
];
const decidesCode = new RegExp(`^(?:(?:${prefixes.join('|')}).*|${names.join('|')})$`, 'i');

function refuse(variable: string, why: string): Fault {
  return new Fault('invalid', `the environment variable ${variable} ${why}`, {
    reason: 'variable_not_allowed',
    detail: { variable },
  });
}
