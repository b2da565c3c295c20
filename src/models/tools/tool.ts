import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Fault } from '../../kit/errors.ts';
import { findFlaws } from '../../kit/schema-flaws.ts';
import type { Caller, Inference } from '../inference/inference.ts';

/** How far a tool is; `progress` grows from one report to the next. */
export interface ToolProgress {
  readonly progress: number;
  readonly total?: number;
}

export interface ToolContext {
  readonly inference: Inference;
  readonly caller: Caller;
  readonly report: (progress: ToolProgress) => void;
}

/** What every tool answers; `output` is what it was asked for. */
export interface ToolResult {
  readonly output: unknown;
  /** The model that made it. */
  readonly model: string;
  /** What the model wants called. */
  readonly toolCalls?: readonly unknown[];
}

/** A tool as callers see it, and how to run it. The schemas are JSON schemas of objects. */
export interface ModelTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: TSchema;
  readonly outputSchema: TSchema;
  /** Fault `invalid` names the first field of the input that is not as the schema says. */
  run(input: unknown, context: ToolContext): Promise<ToolResult>;
}

interface ToolDefinition<I extends TSchema, O extends TSchema> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: I;
  readonly outputSchema: O;
  run(input: Static<I>, context: ToolContext): Promise<Static<O> & ToolResult>;
}

/** Makes a tool whose input is checked before it runs. */
export function defineTool<I extends TSchema, O extends TSchema>(
  definition: ToolDefinition<I, O>,
): ModelTool {
  const { inputSchema } = definition;
  const validator = Compile(inputSchema);
  return {
    ...definition,
    run: async (input, context) => {
      if (validator.Check(input)) return definition.run(input, context);
      throw inputFault(findFlaws(validator.Errors(input), inputSchema));
    },
  };
}

function inputFault(found: ReturnType<typeof findFlaws>): Fault {
  const errors = found.map(({ place, message }) => ({
    path: `input${place.replaceAll('/', '.')}`,
    message,
  }));
  const [first] = errors;
  const message = first ? `${first.path} ${first.message}` : 'the input is not valid';
  const param = first ? { param: first.path } : {};
  return new Fault('invalid', message, {
    reason: 'validation_error',
    detail: { errors, ...param },
  });
}
