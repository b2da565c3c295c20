import { hasEndpoint, isSecretVariable } from '../connections/redaction.ts';
import type { Connection } from '../connections/connection.ts';

/** A command as it may leave the registry: `${NAME}` stands for each secret. */
export interface PublicCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** Variables that are no secrets. */
  readonly env: Readonly<Record<string, string>>;
  /** The secret ones, by name. */
  readonly secretEnv: readonly string[];
}

export interface PublicAddress {
  readonly url: string;
  /** Every header counts as a secret. */
  readonly secretHeaders: readonly string[];
}

/** Stands for a text that was left out of arguments or an address; importing asks for it. */
export function placeholderOf(name: string): string {
  return `\${${variableOf(name)}}`;
}

/** A name as environment variables have it. */
export function variableOf(name: string): string {
  const plain = name.replaceAll(/[^A-Za-z0-9]+/g, '_').replaceAll(/^_+|_+$/g, '');
  return (/^[A-Za-z]/.test(plain) ? plain : `VALUE_${plain}`).toUpperCase();
}

/** The endpoint without its secrets; undefined for a client that has none. */
export function publicEndpoint(
  connection: Pick<Connection, 'endpoint'>,
): PublicCommand | PublicAddress | undefined {
  const { endpoint } = connection;
  if (!hasEndpoint(connection)) return undefined;
  if ('url' in endpoint) {
    const { url, headers = {} } = endpoint;
    return { url: withoutSecrets(url), secretHeaders: Object.keys(headers) };
  }
  const { command, args, env = {} } = endpoint;
  const entries = Object.entries(env);
  return {
    command,
    args: args.map((arg, index) => publicArgument(arg, args[index - 1])),
    env: Object.fromEntries(entries.filter((entry) => !isSecret(entry))),
    secretEnv: entries.filter(isSecret).map(([name]) => name),
  };
}

function isSecret([name, value]: readonly [string, string]): boolean {
  return isSecretVariable(name, value);
}

/** `--token abc`, `--token=abc`, and what looks like a key wherever it stands. */
function publicArgument(arg: string, before: string | undefined): string {
  const [, flag = '', value = ''] = /^(--?[\w-]+)=(.+)$/.exec(arg) ?? [];
  if (flag !== '' && isSecretVariable(flag, value)) return `${flag}=${placeholderOf(flag)}`;
  const isOption = arg.startsWith('-');
  const isValueOf = before !== undefined && /^--?[\w-]+$/.test(before) && !isOption;
  if (isValueOf && isSecretVariable(before, arg)) return placeholderOf(before);
  return isSecretVariable('', arg) ? placeholderOf('argument') : arg;
}

/** Parameters of the query that look like secrets become placeholders. */
function withoutSecrets(text: string): string {
  const at = text.indexOf('?');
  if (at < 0) return text;
  const [query = '', ...fragment] = text.slice(at + 1).split('#');
  const parts = query.split('&').map((part) => {
    const [name = '', value = ''] = part.split('=', 2);
    return isSecretVariable(name, value) ? `${name}=${placeholderOf(name)}` : part;
  });
  return [`${text.slice(0, at)}?${parts.join('&')}`, ...fragment].join('#');
}
