import type { Answer, InputOf } from '../api/contracts.ts';
import { linesIn } from '../ui/entry-text.ts';

/** A tool of a virtual server: `*` as `tool` is all of the connection's. */
export interface ToolPick {
  readonly connection: string;
  readonly tool: string;
  /** Its name there; empty for `server__tool`. */
  readonly as: string;
}

/** The form of a virtual server as it is written. */
export interface VirtualServerDraft {
  readonly name: string;
  readonly description: string;
  readonly tools: readonly ToolPick[];
  /** `server__prompt`, or `server__prompt as name`, one on a line. */
  readonly prompts: string;
  /** A server, or a server and the address of one of its resources, one on a line. */
  readonly resources: string;
  readonly isLean: boolean;
}

export type VirtualServer = Answer<'registry', 'GET /virtual-servers/:virtualServerId'>;
type Body = InputOf<'registry', 'POST /virtual-servers'>['body'];
export type VirtualServerBody = NonNullable<Body>;

export const emptyDraft: VirtualServerDraft = {
  name: '',
  description: '',
  tools: [],
  prompts: '',
  resources: '',
  isLean: false,
};

/** The form of a virtual server that there is. */
export function draftOfServer(server: VirtualServer): VirtualServerDraft {
  return {
    name: server.name,
    description: server.description,
    tools: server.tools.map(pickOfTool),
    prompts: server.prompts.map(writePrompt).join('\n'),
    resources: server.resources.map(writeResource).join('\n'),
    isLean: server.lean,
  };
}

/** What is sent for a draft. */
export function serverOf(draft: VirtualServerDraft): VirtualServerBody {
  return {
    name: draft.name.trim(),
    description: draft.description,
    tools: draft.tools.map(({ connection, tool, as }) => ({ connection, tool, ...named(as) })),
    prompts: linesIn(draft.prompts).map(readPrompt),
    resources: linesIn(draft.resources).map(readResource),
    lean: draft.isLean,
  };
}

/** Picks with one more, or without it where it is there. */
export function togglePick(
  picks: readonly ToolPick[],
  { connection, tool }: Omit<ToolPick, 'as'>,
): readonly ToolPick[] {
  const others = picks.filter((pick) => pick.connection !== connection || pick.tool !== tool);
  return others.length < picks.length ? others : [...picks, { connection, tool, as: '' }];
}

/** Whether a tool is among what was picked, by itself or with all of its server. */
export function isPicked(
  picks: readonly ToolPick[],
  { connection, tool }: Omit<ToolPick, 'as'>,
): boolean {
  return picks.some(
    (pick) => pick.connection === connection && (pick.tool === tool || pick.tool === '*'),
  );
}

function pickOfTool(pick: VirtualServer['tools'][number]): ToolPick {
  if (typeof pick !== 'string') return { ...pick, as: pick.as ?? '' };
  const { connection, name } = splitQualified(pick);
  return { connection, tool: name, as: '' };
}

function writePrompt(pick: VirtualServer['prompts'][number]): string {
  if (typeof pick === 'string') return pick;
  const { connection, prompt, as } = pick;
  return `${connection}__${prompt}${as ? ` as ${as}` : ''}`;
}

function writeResource(pick: VirtualServer['resources'][number]): string {
  return typeof pick === 'string' ? pick : `${pick.connection} ${pick.uri}`;
}

function readPrompt(line: string): NonNullable<VirtualServerBody['prompts']>[number] {
  const [, qualified = line, as = ''] = /^(.*?)(?:\s+as\s+(\S+))?$/.exec(line) ?? [];
  const { connection, name } = splitQualified(qualified);
  return name === '' ? qualified : { connection, prompt: name, ...named(as) };
}

function readResource(line: string): NonNullable<VirtualServerBody['resources']>[number] {
  const [connection = '', uri] = line.split(/\s+/, 2);
  return uri === undefined ? connection : { connection, uri };
}

/** A name of a connection has no two `_` in a row: the first two end it. */
function splitQualified(qualified: string): { connection: string; name: string } {
  const at = qualified.indexOf('__');
  if (at < 0) return { connection: qualified, name: '' };
  return { connection: qualified.slice(0, at), name: qualified.slice(at + 2) };
}

function named(as: string): { as?: string } {
  return as.trim() === '' ? {} : { as: as.trim() };
}
