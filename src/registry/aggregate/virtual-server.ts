import { unqualify } from './entry.ts';

/** What was picked of a server; `*` as `own` is all of it. */
export interface Pick {
  /** The name or the id of a connection. */
  readonly connection: string;
  /** The server's own name of it, or its uri. */
  readonly own: string;
  /** The name here instead of `server__name`; a `*` in it stands for the own name. */
  readonly as?: string | undefined;
}

/** What makes up a virtual server. */
export interface Definition {
  readonly description: string;
  readonly tools: readonly Pick[];
  readonly prompts: readonly Pick[];
  readonly resources: readonly Pick[];
  readonly isLean: boolean;
}

/** A named subset of what all servers offer, reached as an MCP server of its own. */
export interface VirtualServer extends Definition {
  readonly id: string;
  readonly name: string;
  readonly createdBy: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export const all = '*';

/** What `server__name` picks; undefined for what is no qualified name. */
export function parsePick(text: string): Pick | undefined {
  const parts = unqualify(text);
  return parts && { connection: parts.server, own: parts.ownName };
}
