import type { Candidate } from './candidate.ts';
import { readClientServers } from './client-config.ts';
import { recordOf, type Json } from './json-values.ts';
import type { Inputs } from './placeholders.ts';

/** What only Gemini's settings say of a server. */
const marks = ['httpUrl', 'trust', 'includeTools', 'excludeTools', 'authProviderType'];
const bareVariable = /\$([A-Za-z_]\w*)/g;

/** Whether they are servers of the settings of Gemini CLI, which have the shape of Claude's. */
export function isGeminiServers(servers: unknown): servers is Json {
  const all = Object.values(recordOf(servers)).map(recordOf);
  return all.some((server) => marks.some((mark) => mark in server));
}

/** The servers of Gemini's settings, in which `$NAME` is a variable as `${NAME}` is. */
export function readGeminiServers(servers: Json, inputs: Inputs): readonly Candidate[] {
  return readClientServers(recordOf(withPlaceholders(servers)), inputs);
}

function withPlaceholders(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll(bareVariable, '${$1}');
  if (Array.isArray(value)) return value.map(withPlaceholders);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value);
  return Object.fromEntries(members.map(([name, member]) => [name, withPlaceholders(member)]));
}
