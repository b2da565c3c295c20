import type { IncomingHttpHeaders } from 'node:http';
import { WrittenJsonText } from '../answers/written-json.ts';
import { isJsonObject } from '../json-object.ts';
import { McpError, mcpCodes } from './mcp-error.ts';
import type { CallToolResult } from './tools.ts';

/** A call of a tool as the stateless protocol has it, checked. */
export interface DirectCall {
  readonly id: string | number;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
}

interface Message {
  readonly headers: IncomingHttpHeaders;
  /** The parsed JSON, unchecked. */
  readonly body: unknown;
}

const revision = '2026-07-28';
const versionKey = 'io.modelcontextprotocol/protocolVersion';
const serverInfoKey = 'io.modelcontextprotocol/serverInfo';
const envelopeKeys = [
  versionKey,
  'io.modelcontextprotocol/clientInfo',
  'io.modelcontextprotocol/clientCapabilities',
];
/** Of `_meta`, what asks for nothing but the answer. */
const metaKeys = new Set([...envelopeKeys, 'traceparent', 'tracestate', 'baggage']);
const paramKeys = new Set(['name', 'arguments', '_meta']);

/** The one failure of a call that has a status of its own (SEP-2575). */
const missingCapability = -32_021;

const acceptedMax = 256;
const envelopeCharsMax = 4_096;

/**
 * Knows which calls of tools need nothing of what the SDK does beyond the answer: no progress, no log,
 * no further input. Those are most, and the SDK makes a server, a request, a response and a transport
 * for each. Whatever is the least unusual is left to the SDK, which then says what is wrong with it;
 * what a client tells of itself is taken only as the SDK has accepted it before, to the letter.
 */
export class DirectCalls {
  readonly #accepted = new Set<string>();

  /** Undefined for what is left to the SDK. */
  read(message: Message): DirectCall | undefined {
    const call = readCall(message);
    return call && this.#accepted.has(call.envelope) ? call : undefined;
  }

  /** Keeps what the client told of itself: the SDK has answered a message with it. */
  accept(message: Message): void {
    const call = readCall(message);
    if (!call || call.envelope.length > envelopeCharsMax) return;
    if (this.#accepted.size >= acceptedMax) this.#accepted.clear();
    this.#accepted.add(call.envelope);
  }
}

function readCall({ headers, body }: Message): (DirectCall & { envelope: string }) | undefined {
  if (!isJsonObject(body) || body['method'] !== 'tools/call') return undefined;
  const { jsonrpc, id, params } = body;
  if (jsonrpc !== '2.0' || !isId(id) || !hasOnly(params, paramKeys)) return undefined;
  const { name, arguments: input = {}, _meta: meta } = params;
  if (typeof name !== 'string' || !isJsonObject(input) || !hasOnly(meta, metaKeys))
    return undefined;
  if (!areHeadersOf(name, headers) || meta[versionKey] !== revision) return undefined;
  const envelope = JSON.stringify(envelopeKeys.map((key) => meta[key] ?? null));
  const [traceparent, tracestate] = [textOf(meta['traceparent']), textOf(meta['tracestate'])];
  return { id, name, input, traceparent, tracestate, envelope };
}

/** A text, and nothing else that stands in a message. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function isId(value: unknown): value is string | number {
  return typeof value === 'string' || Number.isSafeInteger(value);
}

function hasOnly(
  value: unknown,
  keys: ReadonlySet<string>,
): value is Readonly<Record<string, unknown>> {
  return isJsonObject(value) && Object.keys(value).every((key) => keys.has(key));
}

/** Whether the headers that MCP requires say what the message says, letter for letter, and no more. */
function areHeadersOf(name: string, headers: IncomingHttpHeaders): boolean {
  return (
    headers['mcp-protocol-version'] === revision &&
    headers['mcp-method'] === 'tools/call' &&
    headers['mcp-name'] === name &&
    headers['mcp-session-id'] === undefined &&
    headers['content-type']?.startsWith('application/json') === true
  );
}

/** What a tool answered, as the SDK writes it. */
export function writeResult(
  { id }: DirectCall,
  result: CallToolResult,
  serverInfo: object,
): WrittenJsonText {
  const { _meta: said } = result;
  const meta = { [serverInfoKey]: serverInfo, ...said };
  const complete = { ...result, resultType: 'complete', _meta: meta };
  return toJson({ result: complete, jsonrpc: '2.0', id });
}

/** What the SDK answers where a call fails by the protocol. */
export function writeError(
  { id }: DirectCall,
  { code, message, data }: McpError,
): WrittenJsonText | Response {
  const error = { code: wireCode(code), message, ...(data === undefined ? {} : { data }) };
  const answer = { jsonrpc: '2.0', id, error };
  return code === missingCapability ? Response.json(answer, { status: 400 }) : toJson(answer);
}

/** -32002 is of the protocol before this one. */
function wireCode(code: number): number {
  if (!Number.isSafeInteger(code)) return mcpCodes.internal;
  return code === -32_002 ? mcpCodes.invalidParams : code;
}

function toJson(message: object): WrittenJsonText {
  return new WrittenJsonText(JSON.stringify(message));
}
