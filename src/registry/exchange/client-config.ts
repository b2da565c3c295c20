import type { Protocol } from '../connections/connection.ts';
import { inputNeeded, unsupported, type Candidate } from './candidate.ts';
import { readEndpoint } from './given-endpoint.ts';
import { recordOf, textOf, type Json } from './json-values.ts';
import type { Inputs } from './placeholders.ts';
import { toSafeName } from './safe-name.ts';

/** The names that clients use for transports; `sse`, the elder one over HTTP, is not spoken. */
export const protocolsByTransport: ReadonlyMap<string, Protocol> = new Map([
  ['stdio', 'stdio'],
  ['http', 'http'],
  ['https', 'http'],
  ['streamable-http', 'http'],
  ['streamablehttp', 'http'],
  ['streamable_http', 'http'],
  ['ws', 'websocket'],
  ['websocket', 'websocket'],
]);

/** What else a client starts a command with: a folder, a file of variables. Processes have neither. */
const surroundings = ['cwd', 'envFile'];

/** The servers of a client's configuration file, by their names. */
export function readClientServers(servers: Json, inputs: Inputs): readonly Candidate[] {
  return Object.entries(servers).map(([name, server]) => read(name, recordOf(server), inputs));
}

function read(given: string, server: Json, inputs: Inputs): Candidate {
  const name = toSafeName(given);
  const protocol = protocolOf(server);
  if (!name || !protocol) return unsupported(given);
  if (server['disabled'] === true || server['enabled'] === false) {
    return { name, skipped: 'disabled' };
  }
  const unknown = protocol === 'stdio' ? surroundings.filter((part) => textOf(server[part])) : [];
  if (unknown.length > 0) return unsupported(name, unknown);
  const metadata = name === given ? {} : { importedAs: given };
  const found = readEndpoint(protocol, server, inputs);
  if (!found) return unsupported(name);
  if ('missing' in found) return inputNeeded(name, found.missing);
  const { endpoint, needs } = found;
  const base = { name, type: 'server', protocol, endpoint, capabilities: [] } as const;
  return { input: { ...base, metadata }, needs };
}

function protocolOf(server: Json): Protocol | undefined {
  const told = textOf(server['type']) ?? textOf(server['transport']);
  if (told !== undefined) return protocolsByTransport.get(told.toLowerCase());
  if (textOf(server['command'])) return 'stdio';
  const url = textOf(server['url']) ?? textOf(server['serverUrl']);
  if (url === undefined) return undefined;
  return /^wss?:/i.test(url) ? 'websocket' : 'http';
}
