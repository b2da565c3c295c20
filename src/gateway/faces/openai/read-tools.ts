import type { OutputFormat, Tool, ToolChoice } from '../../conversation/request.ts';
import {
  booleanOrNone,
  isAbsent,
  listAt,
  nameAt,
  objectAt,
  textAt,
  textOrNone,
  wrong,
} from './fields.ts';
import type { Extras } from './read-messages.ts';
import { readMark } from './read-parts.ts';

/** The functions among the tools, in their order; tools of other types go to `extras`. */
export function readTools(value: unknown, extras: Extras): Tool[] {
  if (isAbsent(value)) return [];
  const tools: Tool[] = [];
  for (const [index, item] of listAt(value, 'tools').entries()) {
    const at = `tools[${index}]`;
    const tool = objectAt(item, at);
    if (textAt(tool['type'], `${at}.type`) === 'function') {
      tools.push({
        ...readFunction(tool['function'], `${at}.function`),
        ...readMark(tool['cache_control'], at),
      });
    } else extras[at] = item;
  }
  return tools;
}

/** A function: OpenAI's Responses API has the same fields, one level higher. */
export function readFunction(value: unknown, at: string): Tool {
  const { name, description, parameters, strict } = objectAt(value, at);
  const told = textOrNone(description, `${at}.description`);
  const isStrict = booleanOrNone(strict, `${at}.strict`);
  return {
    name: nameAt(name, `${at}.name`),
    ...(told !== undefined && { description: told }),
    parameters: isAbsent(parameters) ? noParameters : objectAt(parameters, `${at}.parameters`),
    ...(isStrict !== undefined && { isStrict, strictAt: `${at}.strict` }),
  };
}

const noParameters = { type: 'object', properties: {} };

/** Which tool is to be called; a choice that only this dialect knows goes to `extras`. */
export function readToolChoice(value: unknown, extras: Extras): ToolChoice | undefined {
  if (isAbsent(value)) return undefined;
  if (value === 'auto' || value === 'none' || value === 'required') return value;
  if (typeof value === 'string') throw wrong('tool_choice', 'must be auto, none or required');
  const { type, function: named } = objectAt(value, 'tool_choice');
  if (textAt(type, 'tool_choice.type') !== 'function') {
    extras['tool_choice'] = value;
    return undefined;
  }
  const { name } = objectAt(named, 'tool_choice.function');
  return { name: nameAt(name, 'tool_choice.function.name') };
}

/** The form of the answer; undefined for plain text. */
export function readResponseFormat(value: unknown, extras: Extras): OutputFormat | undefined {
  if (isAbsent(value)) return undefined;
  const { type, json_schema: described } = objectAt(value, 'response_format');
  if (type === 'text') return undefined;
  if (type === 'json_object') return { type: 'json' };
  if (textAt(type, 'response_format.type') !== 'json_schema') {
    extras['response_format'] = value;
    return undefined;
  }
  return readSchema(described, 'response_format.json_schema');
}

/** A named JSON schema: the Responses API has the same fields elsewhere. */
export function readSchema(value: unknown, at: string): OutputFormat {
  const { name, description, schema, strict } = objectAt(value, at);
  const told = textOrNone(description, `${at}.description`);
  const isStrict = booleanOrNone(strict, `${at}.strict`);
  return {
    type: 'schema',
    name: nameAt(name, `${at}.name`),
    ...(told !== undefined && { description: told }),
    schema: isAbsent(schema) ? {} : objectAt(schema, `${at}.schema`),
    ...(isStrict !== undefined && { isStrict }),
  };
}
