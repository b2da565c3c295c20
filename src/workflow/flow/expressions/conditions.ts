import { Environment, type ParseResult } from '@marcbachmann/cel-js';
import { Fault } from '../../../kit/errors.ts';
import type { Scope } from '../flow.ts';
import { expressionLimits } from '../limits.ts';
import { Budget, expressionFault } from './budget.ts';
import { loopAlias, insertAll, matchesAlias, toOwnNames, toUserNames } from './cel-text.ts';
import { badCondition, CelWalk, counterName, isArithmetic, isCelName } from './cel-tree.ts';
import { matchesPattern } from './patterns.ts';
import { ReferenceList } from './references.ts';

/** A CEL expression that says yes or no. */
export interface CompiledCondition {
  readonly references: ReferenceList;
  /** Fault `invalid` (`expression_failed`) when it cannot be evaluated, or is no boolean. */
  holds(scope: Scope): boolean;
}

/** Compiles conditions; one for each flow, because it holds the bounds of the one that is evaluated. */
export class ConditionCompiler {
  readonly #environment: Environment;
  #budget: Budget | undefined;

  constructor() {
    this.#environment = openEnvironment((size) => this.#budget?.spend(size));
  }

  /**
   * A condition over `nodes`, `inputs`, `loop`, `execution` and each node whose id is an identifier; a
   * node that did not run is null. Fault `invalid` (`bad_expression`) when it does not parse, is too
   * long, or can be no boolean.
   */
  compile(text: string, isNode: (id: string) => boolean): CompiledCondition {
    const { conditionLength, conditionMs, conditionSize } = expressionLimits;
    if (text.length > conditionLength) {
      throw badCondition(`a condition has at most ${conditionLength} characters`);
    }
    const references = new ReferenceList(isNode);
    const run = compiling(() => this.#parse(toOwnNames(text), references));
    return {
      references,
      holds: (scope) => {
        const budget = new Budget({ ms: conditionMs, size: conditionSize });
        this.#budget = budget;
        const result = evaluating(() => run(variablesFor(scope, references)));
        // CEL forgives errors where the rest decides; a bound is none of those.
        budget.spend(0);
        if (typeof result === 'boolean') return result;
        throw expressionFault(`the condition is ${typeOf(result)}, not true or false`);
      },
    };
  }

  #parse(text: string, references: ReferenceList): ParseResult {
    const walk = new CelWalk(text, references);
    const { ast } = this.#environment.parse(text);
    if (isArithmetic(ast)) throw badCondition('a condition must be true or false, not a result');
    walk.visit(ast);
    const parsed = this.#environment.parse(insertAll(text, walk.insertions));
    const { valid, type, error } = parsed.check();
    if (!valid) throw error ?? badCondition('the condition is not valid');
    if (type === 'bool' || type === 'dyn') return parsed;
    throw badCondition(`a condition must be true or false; this one is of type ${type}`);
  }
}

function openEnvironment(spend: (size: number) => void): Environment {
  const environment = new Environment({
    unlistedVariablesAreDyn: true,
    homogeneousAggregateLiterals: false,
    limits: {
      maxAstNodes: 1_000,
      maxDepth: 48,
      maxListElements: 500,
      maxMapEntries: 500,
      maxCallArguments: 8,
    },
  });
  // JSON has one kind of number only, which CEL takes for a double.
  for (const [sign, work] of Object.entries(arithmetic)) {
    environment.registerOperator(`double ${sign} int`, (a: number, b: bigint) =>
      work(a, Number(b)),
    );
    environment.registerOperator(`int ${sign} double`, (a: bigint, b: number) =>
      work(Number(a), b),
    );
  }
  environment.registerOperator('double % double', arithmetic['%']);
  environment.registerFunction(`${counterName}(dyn, dyn): dyn`, (stop: unknown, value: unknown) => {
    try {
      spend(sizeOf(value));
      return value;
    } catch (error) {
      if (typeof stop === 'boolean') return stop;
      throw error;
    }
  });
  environment.registerFunction(
    `string.${matchesAlias}(string): bool`,
    (text: string, pattern: string) => matchesPattern(text, pattern, spend),
  );
  return environment;
}

const arithmetic = {
  '+': (a: number, b: number) => a + b,
  '-': (a: number, b: number) => a - b,
  '*': (a: number, b: number) => a * b,
  '/': (a: number, b: number) => a / b,
  '%': (a: number, b: number) => a % b,
};

function sizeOf(value: unknown): number {
  return 1 + (Array.isArray(value) || typeof value === 'string' ? value.length : 0);
}

function variablesFor(scope: Scope, { nodes: ids }: ReferenceList): Record<string, unknown> {
  const variables: Record<string, unknown> = Object.create(null);
  const nodes: Record<string, unknown> = {};
  for (const id of ids) {
    nodes[id] = scope.nodes[id] ?? null;
    if (!isCelName(id)) variables[id] = nodes[id];
  }
  const { inputs, loop = scope.nodes['loop'], execution } = scope;
  return Object.assign(variables, { nodes, inputs, execution, [loopAlias]: loop ?? null });
}

function compiling<Result>(compile: () => Result): Result {
  try {
    return compile();
  } catch (error) {
    throw error instanceof Fault ? error : badCondition(sentenceOf(error));
  }
}

function evaluating(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    throw faultWithin(error) ?? expressionFault(sentenceOf(error));
  }
}

function faultWithin(error: unknown): Fault | undefined {
  if (error instanceof Fault) return error;
  return error instanceof Error && error.cause !== undefined ? faultWithin(error.cause) : undefined;
}

/** The first line; what follows draws the text with our own names in it. */
function sentenceOf(error: unknown): string {
  if (error instanceof RangeError) return 'the expression is nested too deeply or grows too large';
  const [line = ''] = error instanceof Error ? error.message.split('\n') : [];
  return toUserNames(line).slice(0, 300);
}

function typeOf(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'bigint') return 'a number';
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`.replace('a object', 'an object');
}
