import type { Tool } from '@modelcontextprotocol/client';
import type { JsonSchemaType, JsonSchemaValidator } from '@modelcontextprotocol/server';
import { Fault } from '../../kit/errors.ts';

type Check = JsonSchemaValidator<unknown>;
type Schema = Readonly<Record<string, unknown>>;

/** A larger schema is left to its server. */
const schemaCharsMax = 65_536;

/**
 * Checks arguments against the schemas that servers gave of their tools. The schemas come from
 * elsewhere: nothing is compiled from them, and their patterns, which could take for ever, are left to
 * the servers, as is every schema that cannot be read.
 */
export class ArgumentChecks {
  readonly #checks = new WeakMap<Tool, Promise<Check | undefined>>();

  /** Fault `invalid` with the reason `invalid_arguments`. */
  async require(tool: Tool, input: Readonly<Record<string, unknown>>): Promise<void> {
    let check = this.#checks.get(tool);
    if (!check) {
      check = createCheck(tool.inputSchema);
      this.#checks.set(tool, check);
    }
    const verdict = (await check)?.(input);
    if (!verdict || verdict.valid) return;
    throw new Fault('invalid', `the arguments do not fit the tool: ${verdict.errorMessage}`, {
      reason: 'invalid_arguments',
      detail: { tool: tool.name },
    });
  }
}

async function createCheck(schema: Schema): Promise<Check | undefined> {
  if (JSON.stringify(schema).length > schemaCharsMax) return undefined;
  const { CfWorkerJsonSchemaValidator } =
    await import('@modelcontextprotocol/server/validators/cf-worker');
  try {
    const check = new CfWorkerJsonSchemaValidator().getValidator(
      withoutPatterns(schema) as JsonSchemaType,
    );
    return (input) => {
      try {
        return check(input);
      } catch {
        return { valid: true, data: input, errorMessage: undefined };
      }
    };
  } catch {
    return undefined;
  }
}

const costly = new Set(['pattern', 'patternProperties', 'format']);
const literal = new Set(['const', 'enum', 'default', 'examples']);
/** Their keys are names that somebody chose, and no keywords. */
const maps = new Set(['properties', '$defs', 'definitions', 'dependentSchemas']);

/** The schema without its regular expressions. */
function withoutPatterns(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutPatterns);
  if (typeof schema !== 'object' || schema === null) return schema;
  const kept = Object.entries(schema).filter(([keyword]) => !costly.has(keyword));
  return Object.fromEntries(kept.map(([keyword, value]) => [keyword, keptOf(keyword, value)]));
}

function keptOf(keyword: string, value: unknown): unknown {
  if (literal.has(keyword)) return value;
  if (!maps.has(keyword) || typeof value !== 'object' || value === null)
    return withoutPatterns(value);
  return Object.fromEntries(
    Object.entries(value).map(([name, schema]) => [name, withoutPatterns(schema)]),
  );
}
