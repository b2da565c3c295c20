import { isDeepStrictEqual } from 'node:util';
import { Fault } from '../../kit/errors.ts';
import type { Scope } from '../flow/flow.ts';

/** Something that must hold after a run: `equals`, `contains` or both of a value, else `cel`. */
export interface Expectation {
  /** The node whose output is looked at; the whole result, by node id, when absent. */
  readonly node?: string;
  /** Where in it: `a.b[0].c`; all of it when absent. */
  readonly path?: string;
  readonly equals?: unknown;
  /** Of a text a part, of a list an element. */
  readonly contains?: unknown;
  /** A condition on all nodes and inputs. */
  readonly cel?: string;
}

/** An expectation that did not hold. */
export interface Miss {
  /** Its place in the list. */
  readonly index: number;
  readonly message: string;
  /** What was there. */
  readonly actual?: unknown;
}

/** Whether a CEL condition holds; throws a Fault when it cannot be evaluated. */
export type HoldsCel = (condition: string, scope: Scope) => boolean;

export interface Finished {
  readonly scope: Scope;
  readonly result: unknown;
}

/** Why an expectation can say nothing of a run, or not what it seems to; undefined for a sound one. */
export function faultOf(expectation: Expectation): string | undefined {
  const { cel, node, path } = expectation;
  const isValue = 'equals' in expectation || 'contains' in expectation;
  if (cel === undefined) return isValue ? undefined : 'says neither equals nor contains nor cel';
  const isMixed = isValue || node !== undefined || path !== undefined;
  return isMixed ? 'has cel, which stands by itself, beside other fields' : undefined;
}

/** The expectations that do not hold of a run. */
export function findMisses(
  expectations: readonly Expectation[],
  run: Finished,
  holdsCel: HoldsCel,
): Miss[] {
  return expectations.flatMap((expectation, index) => {
    const miss = missOf(expectation, run, holdsCel);
    return miss ? [{ index, ...miss }] : [];
  });
}

function missOf(
  expectation: Expectation,
  run: Finished,
  holdsCel: HoldsCel,
): Omit<Miss, 'index'> | undefined {
  if (expectation.cel !== undefined) return celMiss(expectation.cel, run, holdsCel);
  const { node, path = '' } = expectation;
  const place = [node ?? 'the result', path].filter(Boolean).join('.');
  const actual = valueAt(node === undefined ? run.result : run.scope.nodes[node], path);
  if ('equals' in expectation && !isDeepStrictEqual(actual, expectation.equals)) {
    return { message: `${place} is not ${shown(expectation.equals)}`, actual };
  }
  if ('contains' in expectation && !contains(actual, expectation.contains)) {
    return { message: `${place} does not contain ${shown(expectation.contains)}`, actual };
  }
  if (actual === undefined) return { message: `${place} is not there` };
  return undefined;
}

function celMiss(
  condition: string,
  { scope }: Finished,
  holdsCel: HoldsCel,
): Omit<Miss, 'index'> | undefined {
  try {
    return holdsCel(condition, scope) ? undefined : { message: `${condition} does not hold` };
  } catch (error) {
    if (error instanceof Fault) return { message: `${condition}: ${error.message}` };
    throw error;
  }
}

/** Own fields only, so that a path leads to data and to nothing else. */
function valueAt(value: unknown, path: string): unknown {
  const steps = path.split(/[.[\]]+/).filter((step) => step !== '');
  return steps.reduce<unknown>((here, step) => {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, step)) return undefined;
    return (here as Readonly<Record<string, unknown>>)[step];
  }, value);
}

function contains(value: unknown, wanted: unknown): boolean {
  if (typeof value === 'string') return typeof wanted === 'string' && value.includes(wanted);
  return Array.isArray(value) && value.some((one) => isDeepStrictEqual(one, wanted));
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'undefined';
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
