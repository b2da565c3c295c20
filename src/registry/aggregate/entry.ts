import { createHash } from 'node:crypto';
import type { Prompt, Resource, ResourceTemplateType, Tool } from '@modelcontextprotocol/client';
import type { Connection } from '../connections/connection.ts';
import type { Offer } from '../links/link.ts';

/** Something that a server has, as it is listed here. */
export interface Entry<T> {
  readonly listed: T;
  readonly connectionId: string;
  /** The server's own name of it, or its uri. */
  readonly ownName: string;
}

/** A set of what servers offer, in a fixed order, each under a name that is unique within it. */
export interface View {
  tools(): readonly Entry<Tool>[];
  prompts(): readonly Entry<Prompt>[];
  resources(): readonly Entry<Resource>[];
  templates(): readonly Entry<ResourceTemplateType>[];
  findTool(name: string): Entry<Tool> | undefined;
  findPrompt(name: string): Entry<Prompt> | undefined;
  findResource(uri: string): Entry<Resource> | undefined;
}

export const separator = '__';

/** `server__name`, which is unique: no server's name has the separator in it. */
export function qualify(server: string, name: string): string {
  return `${server}${separator}${name}`;
}

const safeName = /^[A-Za-z0-9_.-]{1,128}$/;
const safeLengthMax = 128;
const markLength = 8;

/**
 * The name itself where every client takes it (SEP-986), else one like it with a mark that keeps it
 * unique and the same at every listing.
 */
export function toSafeName(name: string): string {
  if (safeName.test(name)) return name;
  const mark = createHash('sha256').update(name).digest('hex').slice(0, markLength);
  const start = name.replaceAll(/[^A-Za-z0-9_.-]/g, '_').slice(0, safeLengthMax - markLength - 1);
  return `${start}_${mark}`;
}

/** The server and its own name; undefined for what is no qualified name. */
export function unqualify(name: string): { server: string; ownName: string } | undefined {
  const end = name.indexOf(separator);
  if (end <= 0 || end + separator.length >= name.length) return undefined;
  return { server: name.slice(0, end), ownName: name.slice(end + separator.length) };
}

/** Servers that are listed: those in `error` and the disconnected ones are not. */
export function isListed({ type, status }: Connection): boolean {
  return type === 'server' && (status === 'active' || status === 'idle');
}

/** The tool under another name; its own is the title where that cannot be part of the name. What belongs to tasks of the older protocol is left out. */
export function toolAs(tool: Tool, name: string): Tool {
  const { execution: _execution, ...kept } = tool;
  return safeName.test(tool.name) ? { ...kept, name } : { title: tool.name, ...kept, name };
}

/** What of a server may be called: tools in quarantine are not even shown. */
export function toolsOf({ offer, quarantined }: Connection): readonly Tool[] {
  if (!offer) return [];
  if (quarantined.length === 0) return offer.tools;
  return offer.tools.filter(({ name }) => !quarantined.includes(name));
}

/** True where both offers say the same, so that nobody has to be told of a change. */
export function isSameOffer(one: Offer | undefined, other: Offer | undefined): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

const sharedUriKey = 'ennead.registry/also-offered-by';

/** The resource with the names of further servers that have one of the same uri. */
export function withSharers(resource: Resource, servers: readonly string[]): Resource {
  if (servers.length === 0) return resource;
  const { _meta: meta, ...kept } = resource;
  return { ...kept, _meta: { ...meta, [sharedUriKey]: [...servers] } };
}
