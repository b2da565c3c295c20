import type { McpFeatures } from '../../kit/mcp/methods.ts';
import type { CallToolResult, McpTools, Tool } from '../../kit/mcp/tools.ts';
import { Fault } from '../../kit/errors.ts';
import type { Errands } from './errands.ts';
import { asObject, requireTool, viewFeatures, type ViewNow } from './features.ts';
import type { ToolSearch } from './tool-search.ts';

export interface LeanParts {
  readonly view: ViewNow;
  readonly search: () => ToolSearch;
  readonly errands: Errands;
}

/**
 * The same as `viewFeatures`, but three tools stand for all: a model searches, has the tools that it
 * found described and calls them, and never pays for the descriptions of the others.
 */
export function leanFeatures({ view, search, errands }: LeanParts): McpFeatures {
  return { ...viewFeatures(view, errands), tools: leanTools({ view, search, errands }) };
}

const limitDefault = 10;
const limitMax = 50;
const namesMax = 50;
const summaryChars = 200;

const readOnly = { readOnlyHint: true, destructiveHint: false, openWorldHint: false };

const tools: readonly Tool[] = [
  {
    name: 'registry_search',
    title: 'Search tools',
    description:
      'Find tools by words of what they do. Answers names and short descriptions, the best first.',
    inputSchema: {
      type: 'object',
      properties: {
        query: { type: 'string', description: 'words, such as "read file"' },
        limit: { type: 'integer', minimum: 1, maximum: limitMax, default: limitDefault },
      },
      required: ['query'],
    },
    annotations: readOnly,
  },
  {
    name: 'registry_describe',
    title: 'Describe tools',
    description: 'Get the full descriptions and input schemas of tools that a search named.',
    inputSchema: {
      type: 'object',
      properties: {
        names: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: namesMax },
      },
      required: ['names'],
    },
    annotations: readOnly,
  },
  {
    name: 'registry_call',
    title: 'Call a tool',
    description: 'Call a tool by the name that a search gave, with the arguments of its schema.',
    inputSchema: {
      type: 'object',
      properties: {
        name: { type: 'string' },
        arguments: { type: 'object', description: 'what the tool takes' },
      },
      required: ['name'],
    },
    annotations: { openWorldHint: true },
  },
];

function leanTools({ view, search, errands }: LeanParts): McpTools {
  return {
    list: () => tools,
    call: async (name, input, context) => {
      const given = asObject(input);
      if (name === 'registry_search') return findTools(view, search(), given);
      if (name === 'registry_describe') return describeTools(view, given);
      if (name !== 'registry_call')
        return errands.callTool(requireTool(view(), name), given, context);
      const target = requireNamed(view, given['name']);
      return errands.callTool(target, requireArguments(given['arguments']), context);
    },
  };
}

function findTools(
  view: ViewNow,
  search: ToolSearch,
  { query, limit }: Readonly<Record<string, unknown>>,
): CallToolResult {
  if (typeof query !== 'string') throw new Fault('invalid', 'query must be a text');
  const most = Number.isInteger(limit)
    ? Math.min(Math.max(Number(limit), 1), limitMax)
    : limitDefault;
  const found = search.search(query, most).flatMap((name) => {
    const tool = view().findTool(name)?.listed;
    return tool ? [{ name, description: shorten(tool.description ?? tool.title ?? '') }] : [];
  });
  return structured({ tools: found, total: view().tools().length });
}

function describeTools(
  view: ViewNow,
  { names }: Readonly<Record<string, unknown>>,
): CallToolResult {
  if (!Array.isArray(names)) throw new Fault('invalid', 'names must be a list of tool names');
  const wanted = names.slice(0, namesMax).map(String);
  const described = wanted.flatMap((name) => view().findTool(name)?.listed ?? []);
  const unknown = wanted.filter((name) => !view().findTool(name));
  return structured({ tools: described, ...(unknown.length > 0 ? { unknown } : {}) });
}

/** A tool that was misspelt is the model's to mend: an answer, and no error of the protocol. */
function requireNamed(view: ViewNow, name: unknown) {
  if (typeof name !== 'string') {
    throw new Fault('invalid', 'name must be the name of a tool; registry_search finds it');
  }
  const found = view().findTool(name);
  if (found) return found;
  throw new Fault('not_found', `there is no tool ${name}; registry_search finds the names`);
}

/** Models write objects within objects as texts: no tool is called without what was meant for it. */
function requireArguments(given: unknown): Readonly<Record<string, unknown>> {
  if (given === undefined || given === null) return {};
  if (typeof given === 'object' && !Array.isArray(given)) return { ...given };
  throw new Fault('invalid', 'arguments must be an object, as the schema of the tool has it');
}

function structured(value: Readonly<Record<string, unknown>>): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: value };
}

function shorten(text: string): string {
  const [line = ''] = text.trim().split('\n', 1);
  return line.length <= summaryChars ? line : `${line.slice(0, summaryChars - 1)}…`;
}
