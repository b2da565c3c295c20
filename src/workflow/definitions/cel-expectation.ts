import { ConditionCompiler } from '../flow/expressions/conditions.ts';
import type { HoldsCel } from './expectation.ts';

/** Evaluates a condition of a test, within the bounds of conditions in flows. */
export const holdsCel: HoldsCel = (condition, scope) =>
  new ConditionCompiler().compile(condition, (id) => Object.hasOwn(scope.nodes, id)).holds(scope);
