import {
  LlamaText,
  SpecialToken,
  SpecialTokensText,
  type ChatModelFunctions,
  type ChatWrapper,
  type Token,
} from 'node-llama-cpp';
import type { CallOpening, CallSyntax } from './call-reader.ts';
import { plainCallSyntax, plainOpening } from './plain-tools.ts';
import type { Vocabulary } from '../llama/vocabulary.ts';
import type { CallableTool } from '../request.ts';

/** How a model is told of tools and how it writes calls, by its own chat format. */
export interface ToolFormat {
  readonly syntax: CallSyntax;
  /** What begins a call, for the end of a prompt whose answer has to be one. */
  readonly opening: LlamaText;
  /** Control tokens that are part of the syntax and have to be read as text. */
  readonly marks: ReadonlySet<Token>;
}

/** Whether the model's template knows tools; `||call` stands in wrappers for those that do not. */
export function knowsTools(wrapper: ChatWrapper): boolean {
  return !LlamaText(wrapper.settings.functions.call.prefix).toString().includes('||call');
}

/** The format of a template that knows no tools; see `writeToolsAsText`. */
export function plainToolFormat(tools: readonly CallableTool[]): ToolFormat {
  return {
    opening: LlamaText(plainOpening),
    marks: new Set(),
    syntax: plainCallSyntax(tools),
  };
}

/** Reads the format off the chat wrapper, which took it from the model's template. */
export function readToolFormat(
  vocabulary: Vocabulary,
  wrapper: ChatWrapper,
  tools: readonly CallableTool[],
): ToolFormat {
  const { call, parallelism } = wrapper.settings.functions;
  const opening = LlamaText([parallelism?.call.sectionPrefix ?? '', call.prefix]);
  const between = LlamaText(parallelism?.call.betweenCalls ?? '');
  const parts = [opening, between, call.prefix, call.paramsPrefix, call.suffix];
  return {
    opening,
    marks: findMarks(vocabulary, parts),
    syntax: {
      first: readOpening(opening),
      next: parallelism ? readNext(between, LlamaText(call.prefix)) : undefined,
      names: tools.map(({ name }) => name),
      afterName: (name) => readText(call.paramsPrefix, name),
      ending: (name) => readText(call.suffix, name),
    },
  };
}

/** The tools as the wrapper describes them to the model. */
export function describeTools(tools: readonly CallableTool[]): ChatModelFunctions | undefined {
  if (tools.length === 0) return undefined;
  return Object.fromEntries(
    tools.map(({ name, description, parameters }) => {
      // The wrapper only prints the schema, and prints `any` for what it does not know.
      const params = parameters as NonNullable<ChatModelFunctions[string]>['params'];
      return [name, { ...(description && { description }), ...(params && { params }) }];
    }),
  );
}

/** A leading control mark is a trigger by itself; else it takes all of the text in front of the name. */
function readOpening(opening: LlamaText): CallOpening {
  const text = readText(opening);
  const start = text.length - text.trimStart().length;
  const lead = opening.values.find((value) => String(value).trim() !== '');
  const whole = lead instanceof SpecialTokensText ? lead.value : text;
  const trigger = whole.trim();
  return { trigger, beforeName: text.slice(start + trigger.length) };
}

function readNext(between: LlamaText, prefix: LlamaText) {
  return { ...readOpening(prefix), between: readText(between) };
}

/** The text up to the first token that has no text and ends the answer anyway. */
function readText(part: string | LlamaText, name = ''): string {
  const { values } = LlamaText(part);
  const end = values.findIndex((value) => value instanceof SpecialToken);
  const texts = values.slice(0, end < 0 ? undefined : end).map(String);
  return texts.join('').replaceAll('{{functionName}}', name);
}

function findMarks(vocabulary: Vocabulary, parts: readonly (string | LlamaText)[]): Set<Token> {
  const tokens = parts.flatMap((part) => LlamaText(part).tokenize(vocabulary.tokenizer));
  const isMark = (token: Token) => vocabulary.isSpecial(token) && !vocabulary.endsAnswer(token);
  return new Set(tokens.filter(isMark));
}
