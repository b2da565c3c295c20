import { Fault } from '../../kit/errors.ts';
import type { Candidate } from './candidate.ts';
import { readClientServers, readZedServers } from './client-config.ts';
import { parseCommentedJson } from './commented-json.ts';
import { isGeminiServers, readGeminiServers } from './gemini-config.ts';
import { isRecord, listOf, recordOf, type Json } from './json-values.ts';
import { isOpencodeServers, readOpencodeServers } from './opencode-config.ts';
import { readOwnExport } from './own-export.ts';
import type { Inputs } from './placeholders.ts';
import { readServerJson } from './server-json.ts';

export const importFormats = [
  'mcp.json',
  'server.json',
  'claude',
  'vscode',
  'cursor',
  'zed',
  'gemini',
  'opencode',
  'ennead',
] as const;
export type ImportFormat = (typeof importFormats)[number];

export interface ImportDocument {
  readonly format: ImportFormat;
  readonly candidates: readonly Candidate[];
}

const entriesMax = 1_000;
/** By what documents are recognised. */
const marks =
  '"mcpServers", "servers", "mcp.servers", "mcp", "context_servers", "packages", "remotes" and "connections"';

/** Reads a configuration file; `invalid` when it is of no known shape, or not of the one that was named. */
export function readDocument(
  given: unknown,
  { format, inputs }: { readonly format: ImportFormat | undefined; readonly inputs: Inputs },
): ImportDocument {
  const document = parse(given);
  const found = format ?? recognise(document);
  if (!found) {
    throw new Fault('invalid', `the document is of no known format: it has none of ${marks}`);
  }
  const candidates = readers[found](document, inputs);
  if (candidates.length <= entriesMax) return { format: found, candidates };
  throw new Fault('invalid', `a document may list at most ${entriesMax} connections`);
}

function parse(given: unknown): unknown {
  if (typeof given !== 'string') return given;
  try {
    return parseCommentedJson(given, refusePrototypes);
  } catch {
    // What the parser says would show the text, which may hold a secret.
    throw new Fault('invalid', 'the document is no JSON');
  }
}

function refusePrototypes(name: string, value: unknown): unknown {
  if (name !== '__proto__') return value;
  throw new Error('reaches for a prototype');
}

function recognise(document: unknown): ImportFormat | undefined {
  if (Array.isArray(document)) return 'server.json';
  if (!isRecord(document)) return undefined;
  if (Array.isArray(document['connections'])) return 'ennead';
  const isListing = Array.isArray(document['servers']) || isRecord(document['server']);
  const isServer = 'packages' in document || 'remotes' in document;
  return recogniseClient(document) ?? (isListing || isServer ? 'server.json' : undefined);
}

function recogniseClient(document: Json): ImportFormat | undefined {
  const { mcpServers, mcp, context_servers: zedServers } = document;
  if (isRecord(mcpServers)) return isGeminiServers(mcpServers) ? 'gemini' : 'mcp.json';
  if (isRecord(serversOfVsCode(document))) return 'vscode';
  if (isRecord(zedServers)) return 'zed';
  return isOpencodeServers(mcp) ? 'opencode' : undefined;
}

type Reader = (document: unknown, inputs: Inputs) => readonly Candidate[];

const readClientFile: Reader = (document, inputs) =>
  readClientServers(requireObject(recordOf(document)['mcpServers'], 'mcpServers'), inputs);

const readers: Readonly<Record<ImportFormat, Reader>> = {
  'mcp.json': readClientFile,
  claude: readClientFile,
  cursor: readClientFile,
  gemini: (document, inputs) =>
    readGeminiServers(requireObject(recordOf(document)['mcpServers'], 'mcpServers'), inputs),
  opencode: (document, inputs) =>
    readOpencodeServers(requireObject(recordOf(document)['mcp'], 'mcp'), inputs),
  vscode: (document, inputs) =>
    readClientServers(requireObject(serversOfVsCode(recordOf(document)), 'servers'), inputs),
  zed: (document, inputs) =>
    readZedServers(requireObject(recordOf(document)['context_servers'], 'context_servers'), inputs),
  'server.json': (document, inputs) =>
    serversOf(document).map((server) => readServerJson(recordOf(server), inputs)),
  ennead: (document, inputs) => {
    const connections = recordOf(document)['connections'];
    if (Array.isArray(connections)) {
      return connections.map((one) => readOwnExport(one, inputs));
    }
    throw new Fault('invalid', 'the document has no list "connections"');
  },
};

/** Of `mcp.json`, or of the settings, which hold the same under `mcp`. */
function serversOfVsCode(document: Json): unknown {
  return document['servers'] ?? recordOf(document['mcp'])['servers'];
}

/** One `server.json`, a list of them, or an answer of the registry's API, which wraps each. */
function serversOf(document: unknown): readonly unknown[] {
  const { servers = document } = recordOf(document);
  const list = Array.isArray(servers) ? listOf(servers) : [servers];
  return list.map((one) => recordOf(one)['server'] ?? one);
}

function requireObject(value: unknown, name: string): Json {
  if (isRecord(value)) return value;
  throw new Fault('invalid', `the document has no object "${name}"`);
}
