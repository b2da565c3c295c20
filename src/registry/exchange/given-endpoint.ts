import type { Protocol, RemoteEndpoint, StdioEndpoint } from '../connections/connection.ts';
import { listOf, textOf, textsOf, type Json } from './json-values.ts';
import { fill, fillMembers, type Inputs } from './placeholders.ts';

/** An endpoint as a document tells it: undefined when it tells none, or only the names it lacks. */
export type GivenEndpoint =
  | { readonly endpoint: StdioEndpoint | RemoteEndpoint; readonly needs: readonly string[] }
  | { readonly missing: readonly string[] }
  | undefined;

/** By what names clients tell an address; `httpUrl` is the one over Streamable HTTP where there are two. */
export const addressParts = ['httpUrl', 'url', 'serverUrl'] as const;

/** The address of an entry, if it has one. */
export function addressOf(given: Json): string | undefined {
  return addressParts.map((part) => textOf(given[part])).find((text) => text !== undefined);
}

/** Reads `{command, args, env}` or `{url, headers}` and fills its placeholders. */
export function readEndpoint(protocol: Protocol, given: Json, inputs: Inputs): GivenEndpoint {
  return protocol === 'stdio' ? readCommand(given, inputs) : readRemote(given, inputs);
}

function readCommand(given: Json, inputs: Inputs): GivenEndpoint {
  const command = textOf(given['command']);
  const args = listOf(given['args']);
  if (!command || !args.every((one) => typeof one === 'string')) return undefined;
  const filled = [command, ...args].map((one) => fill(one, inputs));
  const missing = filled.flatMap((one) => one.missing);
  // A command that lacks a part is another command.
  if (missing.length > 0) return { missing };
  const [first = command, ...rest] = filled.map(({ text }) => text);
  const env = fillMembers(textsOf(given['env']), inputs);
  const hasEnv = Object.keys(env.members).length > 0;
  const endpoint = { command: first, args: rest, ...(hasEnv ? { env: env.members } : {}) };
  return { endpoint, needs: [...new Set(env.missing)] };
}

function readRemote(given: Json, inputs: Inputs): GivenEndpoint {
  const address = addressOf(given);
  if (!address) return undefined;
  const url = fill(address, inputs);
  if (url.missing.length > 0) return { missing: url.missing };
  const headers = fillMembers(textsOf(given['headers']), inputs);
  const hasHeaders = Object.keys(headers.members).length > 0;
  const endpoint = { url: url.text, ...(hasHeaders ? { headers: headers.members } : {}) };
  return { endpoint, needs: [...new Set(headers.missing)] };
}
