import { fitNames } from './tool-names.ts';

/** A tool as the registry has it. */
export interface ListedTool {
  /** `connection__tool`, the registry's name of it. */
  readonly id: string;
  readonly connection: string;
  /** What models are told, fit for the dialects of all providers. */
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Its server says that a call changes nothing. */
  readonly isReadOnly: boolean;
}

/** All tools that a caller sees, and what they take to keep. */
export interface ToolList {
  readonly tools: readonly ListedTool[];
  readonly bytes: number;
}

const separator = '__';
/** Providers refuse longer ones. */
const descriptionChars = 1_024;
const parametersBytes = 16 * 1024;
const unknownParameters = { type: 'object', additionalProperties: true } as const;

/** What `tools/list` of the registry's own MCP server answered; what is no tool is left out. */
export function readToolList(result: unknown): ToolList {
  const found = fieldOf(result, 'tools');
  const given = (Array.isArray(found) ? found : []).filter(isTool);
  const names = fitNames(given.map(({ name }) => name));
  const tools = given.map((tool) => readTool(tool, names.get(tool.name) ?? tool.name));
  const bytes = tools.reduce((sum, tool) => sum + JSON.stringify(tool).length, 1);
  return { tools, bytes };
}

interface GivenTool {
  readonly name: string;
  readonly title?: unknown;
  readonly description?: unknown;
  readonly inputSchema?: unknown;
  readonly annotations?: unknown;
}

function isTool(value: unknown): value is GivenTool {
  const name = fieldOf(value, 'name');
  return typeof name === 'string' && name.indexOf(separator) > 0;
}

function readTool(tool: GivenTool, name: string): ListedTool {
  const connection = tool.name.slice(0, tool.name.indexOf(separator));
  const title = typeof tool.title === 'string' ? { title: tool.title.slice(0, 256) } : {};
  const told = typeof tool.description === 'string' ? tool.description : (title.title ?? '');
  const parameters = readParameters(tool.inputSchema);
  return {
    id: tool.name,
    connection,
    name,
    ...title,
    description: shorten(parameters ? told : `${tooMany} ${told}`),
    parameters: parameters ?? unknownParameters,
    isReadOnly: isReadOnly(tool.annotations),
  };
}

const tooMany = '(Its parameters are too many to be listed.)';

function shorten(text: string): string {
  if (text.length <= descriptionChars) return text;
  // A pair of surrogates is not cut in two.
  return `${text.slice(0, descriptionChars - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** Undefined when it is too large to be told on every question. */
function readParameters(schema: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof schema !== 'object' || schema === null) return unknownParameters;
  const { $schema: _, ...kept } = { ...schema, type: 'object' } as Record<string, unknown>;
  return JSON.stringify(kept).length <= parametersBytes ? kept : undefined;
}

function isReadOnly(annotations: unknown): boolean {
  const isHarmless = fieldOf(annotations, 'destructiveHint') !== true;
  return fieldOf(annotations, 'readOnlyHint') === true && isHarmless;
}

/** A field of whatever came. */
export function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
}
