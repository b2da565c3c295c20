import { Fault } from '../../kit/errors.ts';
import type {
  AssistantPart,
  ChatRequest,
  Message,
  OutputFormat,
  ReasoningPart,
  Tool,
  UserPart,
} from '../conversation/request.ts';
import { ExactNumber, parseExact, writeExact } from '../dialects/exact-json.ts';

/** What becomes of a text; the same text when nothing changes. */
export type Rewrite = (text: string) => string;

/**
 * The request with every text in it rewritten that a provider would read: those of messages, results
 * and arguments of calls, tools and schemas, and what stands in fields that only one dialect knows.
 * The same object when nothing changed. Signed reasoning stays, because a change would break its
 * signature; so do the bytes and addresses of images and files.
 */
export function rewriteTexts(request: ChatRequest, rewrite: Rewrite): ChatRequest {
  const how = { rewrite };
  const changed: ChatRequest = {
    ...request,
    messages: mapKeeping(request.messages, (message) => rewriteMessage(message, rewrite)),
    tools: mapKeeping(request.tools, (tool) => rewriteTool(tool, how)),
    output: request.output && rewriteOutput(request.output, how),
    extras: rewriteObject(request.extras, how),
  };
  const fields = ['messages', 'tools', 'output', 'extras'] as const;
  return fields.every((field) => changed[field] === request[field]) ? request : changed;
}

/** Shows every text that `rewriteTexts` would rewrite, and signed reasoning too. */
export function visitTexts(request: ChatRequest, visit: (text: string) => void): void {
  rewriteTexts(request, (text) => {
    visit(text);
    return text;
  });
  for (const { parts } of request.messages) {
    for (const part of parts) if (isSigned(part)) visit(part.text);
  }
}

const depthMax = 500;

/** JSON with its texts and names rewritten, and numbers whose digits would be: these become texts. */
export function rewriteJson(text: string, rewrite: Rewrite): string {
  let value: unknown;
  try {
    value = parseExact(text);
  } catch {
    return rewrite(text);
  }
  const rewritten = rewriteValue(value, { rewrite, isData: true }, 0);
  return rewritten === value ? text : writeExact(rewritten);
}

function rewriteMessage(message: Message, rewrite: Rewrite): Message {
  const parts = mapKeeping<AnyPart>(message.parts, (part) => rewritePart(part, rewrite));
  // Parts keep their types.
  return parts === message.parts ? message : ({ ...message, parts } as Message);
}

type AnyPart = Message['parts'][number];

function rewritePart(part: AnyPart, rewrite: Rewrite): AnyPart {
  switch (part.type) {
    case 'tool-call':
      return withField(part, 'arguments', rewriteJson(part.arguments, rewrite));
    case 'tool-result':
      return withField(
        part,
        'content',
        mapKeeping(part.content, (inner) => rewriteText(inner, rewrite)),
      );
    default:
      return rewriteText(part, rewrite);
  }
}

function rewriteTool(tool: Tool, how: Rewriting): Tool {
  const { description, parameters } = tool;
  const said =
    description === undefined ? tool : withField(tool, 'description', how.rewrite(description));
  return withField(said, 'parameters', rewriteObject(parameters, how));
}

function rewriteOutput(output: OutputFormat, how: Rewriting): OutputFormat {
  if (output.type === 'json') return output;
  return withField(output, 'schema', rewriteObject(output.schema, how));
}

function isSigned(part: AnyPart | UserPart): part is ReasoningPart {
  return part.type === 'reasoning' && part.signature !== undefined;
}

function rewriteText<P extends UserPart | AssistantPart>(part: P, rewrite: Rewrite): P {
  if (!('text' in part) || isSigned(part)) return part;
  const text = rewrite(part.text);
  return text === part.text ? part : { ...part, text };
}

interface Rewriting {
  readonly rewrite: Rewrite;
  /** Names and the digits of numbers are data, too. */
  readonly isData?: boolean;
}

type Json = Readonly<Record<string, unknown>>;

/** An object stays one. */
function rewriteObject(value: Json, how: Rewriting): Json {
  return rewriteValue(value, how, 0) as Json;
}

function rewriteValue(value: unknown, how: Rewriting, depth: number): unknown {
  if (typeof value === 'string') return how.rewrite(value);
  if (typeof value === 'number' || value instanceof ExactNumber) return rewriteNumber(value, how);
  if (typeof value !== 'object' || value === null) return value;
  if (depth > depthMax) throw new Fault('invalid', 'the request is nested too deeply');
  if (Array.isArray(value)) {
    return mapKeeping<unknown>(value, (item) => rewriteValue(item, how, depth + 1));
  }
  const entries = Object.entries(value);
  const rewritten = mapKeeping(entries, (entry): [string, unknown] => {
    const name = how.isData ? how.rewrite(entry[0]) : entry[0];
    const inner = rewriteValue(entry[1], how, depth + 1);
    return name === entry[0] && inner === entry[1] ? entry : [name, inner];
  });
  return rewritten === entries ? value : Object.fromEntries(rewritten);
}

function rewriteNumber(value: number | ExactNumber, { rewrite, isData }: Rewriting): unknown {
  if (!isData) return value;
  const text = typeof value === 'number' ? String(value) : value.text;
  const rewritten = rewrite(text);
  return rewritten === text ? value : rewritten;
}

function withField<T, K extends keyof T>(whole: T, field: K, value: T[K]): T {
  return whole[field] === value ? whole : { ...whole, [field]: value };
}

/** The same list when every item stays the same. */
function mapKeeping<T>(items: readonly T[], change: (item: T) => T): readonly T[] {
  const changed = items.map(change);
  return changed.some((item, at) => item !== items[at]) ? changed : items;
}
