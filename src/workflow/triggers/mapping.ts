import { Fault } from '../../kit/errors.ts';
import { ConditionCompiler } from '../flow/expressions/conditions.ts';
import {
  compileTemplate,
  isTemplate,
  openRenderBudget,
  type CompiledTemplate,
  type RenderBudget,
} from '../flow/expressions/templates.ts';
import type { Scope } from '../flow/flow.ts';
import type { TriggerSettings, TriggerType } from './trigger.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What came in, and what becomes of it. */
export interface Mapping {
  /** Whether it is to start anything. Fault `invalid` when that cannot be said. */
  isWanted(source: Fields): boolean;
  /** The inputs of the execution. Fault `invalid` (`expression_failed`). */
  inputsOf(source: Fields): Fields;
}

/** The names that placeholders and filters see, by the type of the trigger. */
export const sourceNames: Readonly<Record<TriggerType, readonly string[]>> = {
  schedule: ['schedule'],
  webhook: ['body', 'query', 'headers'],
  event: ['event'],
};

const depthMax = 32;

/** Compiles filter and inputs. Fault `invalid` (`bad_expression`) with the path of what is wrong. */
export function compileMapping(type: TriggerType, { filter, inputs }: TriggerSettings): Mapping {
  const names = sourceNames[type];
  const isKnown = (name: string) => names.includes(name);
  const condition =
    filter === undefined
      ? undefined
      : within('filter', () => {
          const compiled = new ConditionCompiler().compile(filter, isKnown);
          refuseProblems(compiled.references.problems, names);
          return compiled;
        });
  const render =
    inputs === undefined
      ? undefined
      : compileFields(inputs, { names, isKnown, path: 'inputs', depth: 0 });
  return {
    isWanted: (source) => condition?.holds(scopeOf(source)) ?? true,
    inputsOf: (source) => (render ? render(scopeOf(source), openRenderBudget()) : source),
  };
}

/** Where in the settings something stands, and what it may name. */
interface Place {
  readonly names: readonly string[];
  readonly isKnown: (name: string) => boolean;
  readonly path: string;
  readonly depth: number;
}

type Render<T> = (scope: Scope, budget: RenderBudget) => T;

function compileFields(fields: Fields, place: Place): Render<Fields> {
  const renders = Object.entries(fields).map(
    ([key, value]) => [key, compileValue(value, below(place, key))] as const,
  );
  return (scope, budget) =>
    Object.fromEntries(renders.map(([key, render]) => [key, render(scope, budget) ?? null]));
}

function compileValue(value: unknown, place: Place): Render<unknown> {
  if (typeof value === 'string' && isTemplate(value)) {
    const template = within(place.path, () => compileText(value, place));
    return (scope, budget) => template.render(scope, budget);
  }
  if (Array.isArray(value)) {
    const renders = value.map((one, at) => compileValue(one, below(place, String(at))));
    return (scope, budget) => renders.map((render) => render(scope, budget) ?? null);
  }
  // What is neither null nor a list nor simple is an object of JSON.
  if (typeof value === 'object' && value !== null) return compileFields(value as Fields, place);
  return () => value;
}

function below(place: Place, key: string): Place {
  const path = `${place.path}.${key}`;
  if (place.depth < depthMax) return { ...place, path, depth: place.depth + 1 };
  throw new Fault('invalid', `${path} is nested too deep`, { reason: 'bad_expression' });
}

function compileText(text: string, { names, isKnown }: Place): CompiledTemplate {
  const template = compileTemplate(text, isKnown);
  refuseProblems(template.references.problems, names);
  return template;
}

function refuseProblems(problems: readonly string[], names: readonly string[]): void {
  const [problem] = problems;
  if (problem === undefined) return;
  throw new Fault('invalid', `${problem}; there is ${names.join(', ')}`, {
    reason: 'bad_expression',
  });
}

/** Names the place of what is wrong. */
function within<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const { code, message, reason } = Fault.from(error);
    throw new Fault(code, `${path}: ${message}`, {
      ...(reason === undefined ? {} : { reason }),
      detail: { param: path },
      cause: error,
    });
  }
}

function scopeOf(source: Fields): Scope {
  return { nodes: source, inputs: {}, execution: { id: '', workflowId: '' } };
}
