import type { ChatRequest, Tool, ToolChoice } from '../../conversation/request.ts';
import {
  expectList,
  expectName,
  expectObject,
  expectText,
  invalid,
  isAbsent,
  placeOf,
  readFlag,
  readMark,
  type Remainder,
} from './fields.ts';

/** `eager_input_streaming` only changes how soon the pieces of a call come. */
const toolFields: ReadonlySet<string> = new Set([
  'type',
  'name',
  'description',
  'input_schema',
  'strict',
  'cache_control',
  'eager_input_streaming',
]);

/**
 * The tools in the order in which they came. Those that run at Anthropic have no words but its own:
 * they are kept by their place, and any other upstream refuses them by it.
 */
export function readTools(value: unknown, remainder: Remainder): readonly Tool[] {
  if (isAbsent(value)) return [];
  return expectList(value, 'tools').flatMap((item, index) => {
    const tool = readTool(item, `tools.${index}`, remainder);
    return tool ? [tool] : [];
  });
}

function readTool(value: unknown, path: string, remainder: Remainder): Tool | undefined {
  const tool = expectObject(value, path);
  if (!isAbsent(tool.type) && tool.type !== 'custom') {
    expectName(tool.type, `${path}.type`);
    remainder.keep(path, tool);
    return undefined;
  }
  remainder.keepOthers(tool, toolFields, `${path}.`);
  const { description } = tool;
  const isStrict = readFlag(tool.strict, `${path}.strict`);
  return {
    name: expectName(tool.name, `${path}.name`),
    description: isAbsent(description) ? undefined : expectText(description, `${path}.description`),
    parameters: expectObject(tool.input_schema, `${path}.input_schema`),
    isStrict,
    strictAt: isStrict === undefined ? undefined : placeOf(`${path}.strict`),
    cache: readMark(tool.cache_control, `${path}.cache_control`),
  };
}

type Choice = Pick<ChatRequest, 'toolChoice' | 'allowsParallelCalls'>;

export function readToolChoice(value: unknown): Choice {
  if (isAbsent(value)) return {};
  const choice = expectObject(value, 'tool_choice');
  const path = 'tool_choice.disable_parallel_tool_use';
  const isSingle = readFlag(choice.disable_parallel_tool_use, path) ?? false;
  const toolChoice = readChoice(choice.type, choice.name);
  return isSingle ? { toolChoice, allowsParallelCalls: false } : { toolChoice };
}

function readChoice(type: unknown, name: unknown): ToolChoice {
  if (type === 'auto' || type === 'none') return type;
  if (type === 'any') return 'required';
  if (type === 'tool') return { name: expectName(name, 'tool_choice.name') };
  throw invalid('tool_choice.type', 'must be "auto", "any", "tool" or "none"');
}
