import type { Connection, RemoteEndpoint, StdioEndpoint } from './connection.ts';

/** Stands for a value that is never shown; sent back, it leaves the value as it is. */
export const hiddenValue = '***';

/**
 * The endpoint as anybody may see it: no value of a header, and none of the environment, of an
 * argument or of the address's query that looks like a secret. Undefined for a client that has none.
 */
export function redactEndpoint(
  connection: Pick<Connection, 'endpoint'>,
): StdioEndpoint | RemoteEndpoint | undefined {
  const { endpoint } = connection;
  if (!hasEndpoint(connection)) return undefined;
  if ('command' in endpoint) {
    const { command, args, env } = endpoint;
    const shown = env ? { env: mapValues(env, redactVariable) } : {};
    return { command, args: redactArguments(args), ...shown };
  }
  const { url, headers } = endpoint;
  return {
    url: redactUrl(url),
    ...(headers ? { headers: mapValues(headers, () => hiddenValue) } : {}),
  };
}

/** False for a client that told no endpoint: there is nothing to check and nothing to call. */
export function hasEndpoint({ endpoint }: Pick<Connection, 'endpoint'>): boolean {
  return ('command' in endpoint ? endpoint.command : endpoint.url) !== '';
}

/** Arguments less what looks like a secret: `--token abc`, `--token=abc`, and keys by themselves. */
export function redactArguments(args: readonly string[]): readonly string[] {
  return args.map((arg, at) => {
    const [, flag = '', value = ''] = /^(--?[\w-]+)=(.+)$/s.exec(arg) ?? [];
    if (flag !== '') return isSecretVariable(flag, value) ? `${flag}=${hiddenValue}` : arg;
    const before = args[at - 1] ?? '';
    const isNamed = /^--?[\w-]+$/.test(before) && !arg.startsWith('-');
    return isSecretVariable(isNamed ? before : '', arg) ? hiddenValue : arg;
  });
}

/** An address less the values of its query that look like secrets. */
export function redactUrl(address: string): string {
  const url = new URL(address);
  const secret = [...url.searchParams].filter(([name, value]) => isSecretVariable(name, value));
  if (secret.length === 0) return address;
  for (const [name] of secret) url.searchParams.set(name, hiddenValue);
  return url.href;
}

/** Whether a variable's value is never shown, by its name or by how the value looks. */
export function isSecretVariable(name: string, value: string): boolean {
  return secretName.test(name) || secretValue.test(value);
}

const secretName =
  /key|token|secret|passw|pwd|passphrase|credential|auth|private|cookie|session|signature|dsn|conn(?:ection)?_?str|database_url|webhook/i;
/** Keys of well-known makers, JSON web tokens, private keys, and addresses with a password. */
const secretValue =
  /^(?:sk|pk|rk|ghp|gho|ghs|ghr|github_pat|glpat|xox[a-z]|AKIA|AIza|hf|npm|enn)[-_A-Z0-9][\w-]{8,}|^eyJ[\w-]+\.|-----BEGIN|^[a-z][a-z0-9+.-]*:\/\/[^/\s:@]*:[^/\s@]+@/;

function redactVariable(value: string, name: string): string {
  return isSecretVariable(name, value) ? hiddenValue : value;
}

function mapValues(
  entries: Readonly<Record<string, string>>,
  change: (value: string, name: string) => string,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(entries).map(([name, value]) => [name, change(value, name)]),
  );
}
