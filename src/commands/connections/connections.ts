import { Command, Option } from 'commander';
import { Fault } from '../../kit/errors.ts';
import { addCommand, show } from '../operator/administration.ts';
import type { AdministrationOptions } from '../operator/work.ts';
import type { ConnectionAccess, ConnectionClient } from './connection-access.ts';
import { connectionColumns, printConnection, printImport } from './connection-display.ts';
import { printFacts, printJson, printLine, printRemark, printTable } from '../output.ts';
import { parseCount } from '../pages.ts';

const statuses = ['active', 'idle', 'disconnected', 'error'] as const;
const protocols = ['stdio', 'http', 'websocket'] as const;
const formats = ['ennead', 'claude', 'cursor', 'vscode', 'mcp.json'] as const;

interface ListOptions extends AdministrationOptions {
  readonly status?: (typeof statuses)[number];
  readonly protocol?: (typeof protocols)[number];
  readonly capability?: string;
  readonly limit: number;
}

interface AddOptions extends AdministrationOptions {
  readonly url?: string;
  readonly header?: readonly string[];
  readonly env?: readonly string[];
  readonly capability?: readonly string[];
}

interface CallOptions extends AdministrationOptions {
  readonly input?: string;
}

interface ImportOptions extends AdministrationOptions {
  readonly dryRun?: boolean;
  readonly prefix?: string;
  readonly input?: readonly string[];
}

interface ExportOptions extends AdministrationOptions {
  readonly format?: (typeof formats)[number];
  readonly viaRegistry?: boolean;
}

/** `ennead connections …` */
export function connectionsCommand(): Command {
  const group = new Command('connections').description('MCP servers and clients of the registry');
  addReading(group);
  addChanging(group);
  addExchange(group);
  return group;
}

function addReading(group: Command): void {
  addCommand(group, 'list', '--status error')
    .description('list connections and how they are')
    .addOption(new Option('--status <status>', 'only with this status').choices(statuses))
    .addOption(new Option('--protocol <protocol>', 'only of this protocol').choices(protocols))
    .option('--capability <name>', 'only those that have this capability')
    .option('--limit <count>', 'at most so many', parseCount, 1_000)
    .action((options: ListOptions) => work(options, (client) => list(client, options)));
  addCommand(group, 'show <connection>', 'weather')
    .description('show a connection, by its name or id')
    .action((name: string, options: AdministrationOptions) =>
      work(options, async (client) => {
        const connectionId = await idOf(client, name);
        show(options, await client.getConnection({ params: { connectionId } }), printConnection);
      }),
    );
}

function addChanging(group: Command): void {
  addCommand(
    group,
    'add <name> [command...]',
    'files -- npx -y @modelcontextprotocol/server-filesystem /data',
  )
    .description('register a server: by --url, or by the command that runs it, after --')
    .option('--url <url>', 'http(s) or ws(s) address of the server')
    .option('--header <header...>', 'header of each request, "Name: value"')
    .option('--env <variable...>', 'variable of the command, NAME=value')
    .option('--capability <name...>', 'what it can do, beside what it says itself')
    .action((name: string, command: readonly string[], options: AddOptions) =>
      work(options, (client) => add(client, { name, command, options })),
    );
  addCommand(group, 'remove <connection>', 'weather')
    .description('disconnect a connection, by its name or id')
    .action((name: string, options: AdministrationOptions) =>
      work(options, async (client) => {
        const connectionId = await idOf(client, name);
        const answer = await client.disconnectConnection({ params: { connectionId } });
        show(options, answer, ({ message }) => printLine(message));
      }),
    );
  addCommand(group, 'call <connection> <tool>', 'weather forecast --input \'{"city":"Oslo"}\'')
    .description('call a tool of a server')
    .option('--input <json>', 'what the tool takes, a JSON object')
    .action((name: string, tool: string, options: CallOptions) =>
      work(options, (client) => call(client, { name, tool, options })),
    );
}

function addExchange(group: Command): void {
  addCommand(group, 'import <file>', 'mcp.json --dry-run')
    .description(
      'register what a file of Claude, Cursor, VS Code, a server.json or an export lists (- is standard input)',
    )
    .option('--dry-run', 'only say what would be imported')
    .option('--prefix <text>', 'put before every name')
    .option('--input <value...>', 'value that the file asks for, NAME=value')
    .action((path: string, options: ImportOptions) => importFile(path, options));
  addCommand(group, 'export', '--format claude > .mcp.json')
    .description('print the connections, without secrets, as a file of JSON')
    .addOption(new Option('--format <format>', 'for which client').choices(formats))
    .option('--via-registry', "name only the registry's own endpoint")
    .action((options: ExportOptions) =>
      work(options, async (client) => {
        const { format, viaRegistry } = options;
        const query = {
          ...(format ? { format } : {}),
          ...(viaRegistry ? { via: 'registry' as const } : {}),
        };
        printJson(await client.exportConnections({ query }));
      }),
    );
}

// What talks to the suite is loaded by the command that needs it, so that help comes at once.

async function work(
  options: AdministrationOptions,
  task: (client: ConnectionClient) => Promise<void>,
): Promise<void> {
  const { openConnections } = await import('./connection-access.ts');
  await using access: ConnectionAccess = await openConnections(options);
  try {
    await task(access.client);
  } catch (error) {
    throw access.explain(error);
  }
}

const idPattern = /^con_[0-9a-f]{32}$/;

async function idOf(client: ConnectionClient, name: string): Promise<string> {
  if (idPattern.test(name)) return name;
  const { connections } = await client.listConnections({ query: { limit: 10_000, offset: 0 } });
  const named = connections.filter((one) => one.name === name);
  const found = named.find(({ status }) => status !== 'disconnected') ?? named.at(-1);
  if (found) return found.id;
  throw new Fault('not_found', `there is no connection "${name}"`);
}

async function list(client: ConnectionClient, options: ListOptions): Promise<void> {
  const { status, protocol, capability, limit } = options;
  const query = {
    limit,
    offset: 0,
    ...(status ? { status } : {}),
    ...(protocol ? { protocol } : {}),
    ...(capability === undefined ? {} : { capability }),
  };
  show(options, await client.listConnections({ query }), ({ connections, filtered }) => {
    printTable(connections, connectionColumns);
    if (connections.length < filtered) {
      printRemark(`${connections.length} of ${filtered}; --limit shows more`);
    }
  });
}

interface Addition {
  readonly name: string;
  readonly command: readonly string[];
  readonly options: AddOptions;
}

async function add(client: ConnectionClient, addition: Addition): Promise<void> {
  const { name, options } = addition;
  const capabilities = [...(options.capability ?? [])];
  const body = { name, type: 'server' as const, capabilities, ...endpointOf(addition) };
  show(options, await client.registerConnection({ body }), ({ id, status, connection }) =>
    printFacts({ id, name, status, health: connection.health.status }),
  );
}

function endpointOf({ command: [command, ...args], options }: Addition) {
  const { url, header = [], env = [] } = options;
  if ((url === undefined) === (command === undefined)) {
    throw new Fault('invalid', 'give either --url or a command after --');
  }
  if (url === undefined) {
    const endpoint = { command: command ?? '', args, env: pairsOf(env, '=') };
    return { protocol: 'stdio' as const, endpoint };
  }
  const protocol = /^wss?:/i.test(url) ? ('websocket' as const) : ('http' as const);
  return { protocol, endpoint: { url, headers: pairsOf(header, ':') } };
}

/** The texts are not repeated in what is wrong with them: they hold secrets. */
function pairsOf(texts: readonly string[], separator: string): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf(separator);
      if (at > 0) return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
      throw new Fault('invalid', `a value must be written NAME${separator}value`);
    }),
  );
}

interface ToolCall {
  readonly name: string;
  readonly tool: string;
  readonly options: CallOptions;
}

async function call(client: ConnectionClient, { name, tool, options }: ToolCall): Promise<void> {
  const input = parseInput(options.input);
  const connectionId = await idOf(client, name);
  const answer = await client.callConnection({
    params: { connectionId },
    body: { tool, arguments: input },
  });
  show(options, answer, ({ result }) => {
    if (typeof result === 'string') printLine(result);
    else printJson(result);
  });
  if (answer.isError) process.exitCode = 1;
}

function parseInput(text = '{}'): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // Said below.
  }
  throw new Fault('invalid', '--input must be a JSON object');
}

async function importFile(path: string, options: ImportOptions): Promise<void> {
  const { readJson } = await import('../json-file.ts');
  const { parseCommentedJson } = await import('../../registry/exchange/commented-json.ts');
  const given = await readJson(path, parseCommentedJson);
  if (typeof given !== 'object' || given === null) {
    throw new Fault('invalid', 'the file must hold a JSON object or list');
  }
  // Parsed from JSON, so what is no list is an object; the registry checks the rest.
  const document = given as Record<string, unknown>;
  const { dryRun = false, prefix, input = [] } = options;
  const inputs = pairsOf(input, '=');
  const body = { document, dryRun, inputs, ...(prefix === undefined ? {} : { prefix }) };
  await work(options, async (client) => {
    const answer = await client.importConnections({ body });
    show(options, answer, printImport);
    if (answer.errors.length > 0) process.exitCode = 1;
  });
}
