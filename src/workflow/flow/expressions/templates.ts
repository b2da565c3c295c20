import { Context, Drop, Liquid, Output, toValueSync, Value, type Template } from 'liquidjs';
import { Fault } from '../../../kit/errors.ts';
import type { Scope } from '../flow.ts';
import { expressionLimits } from '../limits.ts';
import { Budget, expressionFault } from './budget.ts';
import { ReferenceList } from './references.ts';
import { dropUnsafe, finite, registerFilters, textOf } from './template-filters.ts';

/** What the placeholders of one node may take together. */
export type RenderBudget = Budget;

/** A fresh budget for the placeholders of one node. */
export function openRenderBudget(): RenderBudget {
  const { renderMs, renderSize } = expressionLimits;
  return new Budget({ ms: renderMs, size: renderSize });
}

/** A text whose placeholders are compiled. */
export interface CompiledTemplate {
  readonly references: ReferenceList;
  /**
   * The text with its placeholders filled in; of a text that is nothing but one placeholder the value
   * itself, null included, `undefined` when there is none. What comes out is never rendered again. Fault `invalid`
   * (`expression_failed`) when it cannot be, or takes more than the budget.
   */
  render(scope: Scope, budget: RenderBudget): unknown;
}

/** Whether a text has something to render. */
export function isTemplate(text: string): boolean {
  return text.includes('{{') || text.includes('{%');
}

/**
 * Compiles a Liquid text. Fault `invalid` (`bad_expression`) when it does not parse, is too long, or
 * uses a tag or filter that is not offered.
 */
export function compileTemplate(text: string, isNode: (id: string) => boolean): CompiledTemplate {
  if (text.length > expressionLimits.templateLength) {
    throw badTemplate(
      `a text with placeholders has at most ${expressionLimits.templateLength} characters`,
    );
  }
  const placeholders = text.split(/\{[{%]/).length - 1;
  if (placeholders * text.length > expressionLimits.templateWork) {
    throw badTemplate('the text has too many placeholders for its length; split it up');
  }
  const parsed = attempt(() => parse(text));
  const references = attempt(() => findReferences(parsed.templates, isNode));
  const { single } = parsed;
  const templates: Template[] = parsed.templates;
  return {
    references,
    render: (scope, budget) => {
      const context = openContext(variablesFor(scope, references), budget);
      return evaluate(() =>
        single ? plain(toValueSync(single.value(context))) : renderText(templates, context, budget),
      );
    },
  };
}

/** Filters and tags that are offered, for the documentation and the editor. */
export function listTemplateFilters(): readonly string[] {
  return Object.keys(liquid.filters).toSorted();
}

const liquid = openLiquid();

function openLiquid(): Liquid {
  const opened = new Liquid({
    ownPropertyOnly: true,
    strictFilters: true,
    strictVariables: false,
    // Partials are off; a lookup that happened anyway would find nothing.
    templates: {},
    dynamicPartials: false,
    timezoneOffset: 0,
    parseLimit: expressionLimits.templateLength,
    // Called with the context as `this`, which its type does not say.
    outputEscape: writeOut,
  });
  dropUnsafe(opened);
  registerFilters(opened);
  return opened;
}

/** What stands in the text for a value; counted, since it may stand there often. */
function writeOut(this: { readonly context: Context }, value: unknown): string {
  const text = textOf(value);
  this.context.memoryLimit.use(text.length);
  return text;
}

interface Parsed {
  readonly templates: Template[];
  /** Of a text that is nothing but one placeholder. */
  readonly single?: Value;
}

function parse(text: string): Parsed {
  const templates = liquid.parse(text);
  const [first] = templates;
  const isSingle = templates.length === 1 && first instanceof Output && text.startsWith('{{');
  if (!isSingle) return { templates };
  const inner = text.slice(text.startsWith('{{-') ? 3 : 2, text.endsWith('-}}') ? -3 : -2);
  return { templates, single: new Value(inner, liquid) };
}

function findReferences(templates: Template[], isNode: (id: string) => boolean): ReferenceList {
  const references = new ReferenceList(isNode);
  const { globals } = liquid.analyzeSync(templates, { partials: false });
  for (const variable of Object.values(globals).flat()) {
    const [root, next] = variable.segments;
    if (typeof root !== 'string') continue;
    const step = typeof next === 'object' || next === undefined ? undefined : String(next);
    // `for … offset: continue` is told as a variable.
    if (root === 'continue' && next === undefined) continue;
    references.add(root, step, next !== undefined);
  }
  return references;
}

/** Only what was found when the text was compiled; a computed name finds nothing else. */
function variablesFor(scope: Scope, references: ReferenceList): Record<string, unknown> {
  const variables: Record<string, unknown> = Object.create(null);
  const nodes: Record<string, unknown> = Object.create(null);
  for (const id of references.nodes) {
    nodes[id] = scope.nodes[id];
    variables[id] = scope.nodes[id];
  }
  const { inputs, loop = scope.nodes['loop'], execution } = scope;
  return Object.assign(variables, { nodes, inputs, loop, execution });
}

function openContext(variables: object, budget: RenderBudget): Context {
  const limits = {
    memoryLimit: { use: (size: number) => budget.spend(size), check: () => {} },
    renderLimit: { use: () => {}, check: (nowMs: number) => budget.checkTime(nowMs) },
    liquid,
  };
  // The limiters are told apart by their class only, which the package does not export.
  const bounds = limits as unknown as ConstructorParameters<typeof Context>[3];
  return new Context(variables, liquid.options, { sync: true }, bounds);
}

function renderText(templates: Template[], context: Context, budget: RenderBudget): string {
  const text = String(toValueSync(liquid.renderer.renderTemplates(templates, context)));
  budget.spend(text.length);
  return text;
}

/** A value of Liquid's own, such as `empty`, is none of ours; its `nil` is null. */
function plain(value: unknown): unknown {
  if (value instanceof Drop) return value.valueOf() === null ? null : undefined;
  if (typeof value === 'number') return finite(value);
  return typeof value === 'function' ? undefined : value;
}

function attempt<Result>(compile: () => Result): Result {
  try {
    return compile();
  } catch (error) {
    throw error instanceof Fault ? error : badTemplate(sentenceOf(error));
  }
}

function evaluate<Result>(run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    throw faultWithin(error) ?? expressionFault(sentenceOf(error));
  }
}

/** Liquid wraps what filters and limits throw. */
function faultWithin(error: unknown): Fault | undefined {
  for (let cause = error, depth = 0; depth < 4; depth += 1) {
    if (cause instanceof Fault) return cause;
    cause = (cause as { readonly originalError?: unknown } | undefined)?.originalError;
  }
  return undefined;
}

function badTemplate(message: string): Fault {
  return new Fault('invalid', message, { reason: 'bad_expression' });
}

/** The first line, without the file that there is none of. */
function sentenceOf(error: unknown): string {
  if (error instanceof RangeError) return 'the expression is nested too deeply';
  const [line = ''] = error instanceof Error ? error.message.split('\n') : [];
  return line.includes('call stack') ? 'the expression is nested too deeply' : line.slice(0, 300);
}
