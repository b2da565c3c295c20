import { capabilityNames } from '../connections/capability-names.ts';
import type { Connection } from '../connections/connection.ts';
import type { Json } from './json-values.ts';
import { publicEndpoint, variableOf, type PublicCommand } from './public-endpoint.ts';

export const exportFormats = ['ennead', 'claude', 'cursor', 'vscode', 'mcp.json'] as const;
export type ExportFormat = (typeof exportFormats)[number];

/** The form of the export; it changes when older readers could misread it. */
const exportVersion = '1.0';

export interface ExportedConnection {
  readonly name: string;
  readonly type: Connection['type'];
  readonly protocol: Connection['protocol'];
  readonly endpoint: Record<string, unknown>;
  readonly capabilities: string[];
  readonly declared?: Record<string, unknown>[];
  readonly metadata?: Record<string, unknown>;
  readonly healthCheck?: Record<string, unknown>;
  readonly needs?: string[];
}

export interface RegistryExport {
  readonly version: string;
  readonly exportedAt: string;
  readonly connections: ExportedConnection[];
  readonly totalExported: number;
}

/** What another registry imports to have the same connections; secrets are only named. */
export function toExport(connections: Iterable<Connection>): RegistryExport {
  return wrap([...connections].filter(isThere).map(exportOne));
}

/** The same with this registry's own endpoint in place of its servers. */
export function toOwnExport(
  connections: Iterable<Connection>,
  endpointUrl: string,
): RegistryExport {
  const servers = [...connections].filter(isServer);
  const capabilities = [...new Set(servers.flatMap(capabilityNames))];
  const endpoint = { url: endpointUrl };
  return wrap([
    { name: ownName, type: 'server', protocol: 'http', endpoint, capabilities, needs: [ownHeader] },
  ]);
}

/** A client's configuration file with the servers that it can reach. */
export function toClientConfig(
  connections: Iterable<Connection>,
  format: Exclude<ExportFormat, 'ennead'>,
): Json {
  const dialect = dialects[format];
  const sink = new SecretSink(dialect);
  const entries = [...connections].filter(isServer).flatMap((connection) => {
    const entry = entryOf(connection, sink);
    return entry ? [[connection.name, entry] as const] : [];
  });
  return dialect.wrap(Object.fromEntries(entries), sink);
}

/** The same with this registry's own endpoint as the only server. */
export function toOwnClientConfig(
  endpointUrl: string,
  format: Exclude<ExportFormat, 'ennead'>,
): Json {
  const dialect = dialects[format];
  const sink = new SecretSink(dialect);
  const headers = { Authorization: `Bearer ${sink.stand('ENNEAD_TOKEN')}` };
  const entry = { type: 'http', url: endpointUrl, headers };
  return dialect.wrap({ [ownName]: entry }, sink);
}

const ownName = 'ennead';
const ownHeader = 'Authorization';

interface Dialect {
  readonly placeholder: (name: string) => string;
  readonly wrap: (servers: Json, sink: SecretSink) => Json;
}

const plainDialect: Dialect = {
  placeholder: (name) => `\${${name}}`,
  wrap: (mcpServers) => ({ mcpServers }),
};

const dialects: Readonly<Record<Exclude<ExportFormat, 'ennead'>, Dialect>> = {
  claude: plainDialect,
  'mcp.json': plainDialect,
  cursor: { ...plainDialect, placeholder: (name) => `\${env:${name}}` },
  vscode: {
    placeholder: (name) => `\${input:${name}}`,
    wrap: (servers, { names }) => ({
      servers,
      inputs: [...names].map((id) => ({
        type: 'promptString',
        id,
        description: id,
        password: true,
      })),
    }),
  },
};

/** Hands out placeholders and keeps which there are. */
class SecretSink {
  readonly names = new Set<string>();
  readonly #dialect: Dialect;

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  stand(name: string): string {
    this.names.add(name);
    return this.#dialect.placeholder(name);
  }

  /** The plain placeholders of a text in the dialect's own form. */
  translate(text: string): string {
    return text.replaceAll(/\$\{([A-Z][A-Z0-9_]*)\}/g, (_, name: string) => this.stand(name));
  }
}

function isThere({ status }: Connection): boolean {
  return status !== 'disconnected';
}

function isServer(connection: Connection): boolean {
  return connection.type === 'server' && isThere(connection);
}

function wrap(connections: ExportedConnection[]): RegistryExport {
  const exportedAt = new Date().toISOString();
  return { version: exportVersion, exportedAt, connections, totalExported: connections.length };
}

function exportOne(connection: Connection): ExportedConnection {
  const { name, type, protocol, metadata, healthCheck, declared } = connection;
  const { endpoint, needs } = plainEndpoint(connection);
  return {
    name,
    type,
    protocol,
    endpoint,
    capabilities: [...capabilityNames(connection)],
    declared: declared.map((one) => ({ ...one })),
    metadata: { ...metadata },
    healthCheck: { ...healthCheck },
    ...(needs.length > 0 ? { needs } : {}),
  };
}

function plainEndpoint(connection: Connection): {
  endpoint: Record<string, unknown>;
  needs: string[];
} {
  const found = publicEndpoint(connection);
  if (!found) return { endpoint: {}, needs: [] };
  if ('url' in found) return { endpoint: { url: found.url }, needs: [...found.secretHeaders] };
  const { command, args, env, secretEnv } = found;
  const hasEnv = Object.keys(env).length > 0;
  return { endpoint: { command, args, ...(hasEnv ? { env } : {}) }, needs: [...secretEnv] };
}

/** None for what a client's file cannot name. */
function entryOf(connection: Connection, sink: SecretSink): Json | undefined {
  const found = publicEndpoint(connection);
  if (!found || connection.protocol === 'websocket') return undefined;
  if ('command' in found) return commandEntry(found, connection.name, sink);
  const headers = found.secretHeaders.map((name) => {
    return [name, sink.stand(variableOf(`${connection.name}_${name}`))] as const;
  });
  return {
    type: 'http',
    url: sink.translate(found.url),
    ...(headers.length > 0 ? { headers: Object.fromEntries(headers) } : {}),
  };
}

function commandEntry(
  { command, args, env, secretEnv }: PublicCommand,
  name: string,
  sink: SecretSink,
): Json {
  const secrets = secretEnv.map((variable) => {
    return [variable, sink.stand(variableOf(`${name}_${variable}`))] as const;
  });
  const all = { ...env, ...Object.fromEntries(secrets) };
  return {
    type: 'stdio',
    command,
    args: args.map((arg) => sink.translate(arg)),
    ...(Object.keys(all).length > 0 ? { env: all } : {}),
  };
}
