import type { Candidate } from './candidate.ts';
import { readClientServers } from './client-config.ts';
import { isRecord, listOf, recordOf, textsOf, type Json } from './json-values.ts';
import type { Inputs } from './placeholders.ts';
import { placeholderOf } from './public-endpoint.ts';

/** The names that opencode uses for transports. */
const types: ReadonlyMap<unknown, string> = new Map([
  ['local', 'stdio'],
  ['remote', 'http'],
]);

/** `{env:NAME}`, and `{file:path}`, whose text is asked for under a name made of the path. */
const variables = /\{(env|file):([^}]+)\}/g;

/** Whether it is the part `mcp` of opencode's configuration: other clients call these things otherwise. */
export function isOpencodeServers(servers: unknown): servers is Json {
  return Object.values(recordOf(servers)).some((one) => types.has(recordOf(one)['type']));
}

/** The servers of opencode's configuration: a command is a list with its arguments. */
export function readOpencodeServers(servers: Json, inputs: Inputs): readonly Candidate[] {
  const plain = Object.entries(servers).map(([name, server]) => [name, plainServer(server)]);
  return readClientServers(Object.fromEntries(plain), inputs);
}

function plainServer(given: unknown): Json {
  const { command: line, environment, headers, type, url, ...rest } = recordOf(given);
  const [command, ...args] = listOf(line).map(withPlaceholders);
  return {
    ...rest,
    type: types.get(type) ?? type,
    ...(command === undefined ? {} : { command, args }),
    ...(isRecord(environment) ? { env: allWithPlaceholders(environment) } : {}),
    ...(url === undefined ? {} : { url: withPlaceholders(url) }),
    ...(isRecord(headers) ? { headers: allWithPlaceholders(headers) } : {}),
  };
}

function allWithPlaceholders(members: Json): Json {
  const texts = Object.entries(textsOf(members));
  return Object.fromEntries(texts.map(([name, text]) => [name, withPlaceholders(text)]));
}

function withPlaceholders(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  return value.replaceAll(variables, (_, kind: string, name: string) =>
    kind === 'env' ? `\${env:${name}}` : placeholderOf(name),
  );
}
