import type { Protocol } from '../connections/connection.ts';
import { inputNeeded, unsupported, type Candidate } from './candidate.ts';
import { addressOf, addressParts, readEndpoint } from './given-endpoint.ts';
import { isRecord, recordOf, textOf, type Json } from './json-values.ts';
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
/** What is taken of an entry, whatever its protocol is. */
const marks = ['type', 'transport', 'disabled', 'enabled'];
const partsOfCommand: readonly string[] = [...marks, 'command', 'args', 'env'];
const partsOfAddress: readonly string[] = [...marks, ...addressParts, 'headers'];
const unknownMax = 20;
const unknownLengthMax = 100;

/** The servers of a client's configuration file, by their names. */
export function readClientServers(servers: Json, inputs: Inputs): readonly Candidate[] {
  return Object.entries(servers).map(([name, server]) => read(name, recordOf(server), inputs));
}

/**
 * The same of Zed's settings. Servers of its extensions are not in them; a command may be an object of the
 * program and its arguments, as Zed wrote it before.
 */
export function readZedServers(servers: Json, inputs: Inputs): readonly Candidate[] {
  const plain = Object.entries(servers).map(([name, server]): [string, Json] => [
    name,
    plainServer(server),
  ]);
  return readClientServers(Object.fromEntries(plain), inputs);
}

function plainServer(given: unknown): Json {
  // `source` says who named the command.
  const { source: _, command, ...server } = recordOf(given);
  if (!isRecord(command)) return command === undefined ? server : { command, ...server };
  const { path, args, env } = command;
  return { ...server, command: path, args, env };
}

function read(given: string, server: Json, inputs: Inputs): Candidate {
  const name = toSafeName(given);
  const protocol = protocolOf(server);
  if (!name || !protocol) return unsupported(given);
  const skipped = skip(name, protocol, server);
  if (skipped) return skipped;
  const metadata = name === given ? {} : { importedAs: given };
  const found = readEndpoint(protocol, server, inputs);
  if (!found) return unsupported(name);
  if ('missing' in found) return inputNeeded(name, found.missing);
  const { endpoint, needs } = found;
  const base = { name, type: 'server', protocol, endpoint, capabilities: [] } as const;
  const unknown = passedOver(server, protocol);
  return { input: { ...base, metadata }, needs, ...(unknown.length > 0 ? { unknown } : {}) };
}

function skip(name: string, protocol: Protocol, server: Json): Candidate | undefined {
  if (server['disabled'] === true || server['enabled'] === false) {
    return { name, skipped: 'disabled' };
  }
  const told = (part: string): boolean => textOf(server[part]) !== undefined;
  const missed = protocol === 'stdio' ? surroundings.filter(told) : [];
  if (missed.length > 0) return unsupported(name, missed);
  if (toldProtocol(server) !== undefined || !told('command')) return undefined;
  const unknown = ['command', ...addressParts].filter(told);
  return unknown.length > 1 ? { name, skipped: 'ambiguous', unknown } : undefined;
}

/** The parts of an entry that say something and are not taken: an `auth` of Cursor, lists of tools. */
function passedOver(server: Json, protocol: Protocol): readonly string[] {
  const taken = protocol === 'stdio' ? partsOfCommand : partsOfAddress;
  return Object.entries(server)
    .filter(([part, value]) => !taken.includes(part) && !isEmpty(value))
    .map(([part]) => part.slice(0, unknownLengthMax))
    .slice(0, unknownMax);
}

function isEmpty(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return value === null || value === '';
}

function toldProtocol(server: Json): string | undefined {
  return textOf(server['type']) ?? textOf(server['transport']);
}

function protocolOf(server: Json): Protocol | undefined {
  const told = toldProtocol(server);
  if (told !== undefined) return protocolsByTransport.get(told.toLowerCase());
  if (textOf(server['command'])) return 'stdio';
  const url = addressOf(server);
  if (url === undefined) return undefined;
  return /^wss?:/i.test(url) ? 'websocket' : 'http';
}
