import type { TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { Fault } from '../../kit/errors.ts';
import { markerOf } from '../components/schema.ts';
import { expressionFault } from './expressions/budget.ts';
import type { ConditionCompiler } from './expressions/conditions.ts';
import type { References } from './expressions/references.ts';
import { textOf } from './expressions/template-filters.ts';
import {
  compileTemplate,
  isTemplate,
  openRenderBudget,
  type RenderBudget,
} from './expressions/templates.ts';
import type { Scope } from './flow.ts';
import { flowLimits, forbiddenKeys } from './limits.ts';
import {
  refuseAuthorsSettings,
  refuseConditions,
  refuseOtherOrigins,
  withSecrets,
} from './merged-settings.ts';
import type { MergeOptions } from './plan.ts';

type Fields = Readonly<Record<string, unknown>>;
type Render = (scope: Scope, budget: RenderBudget) => unknown;

/** What settings need to be read. */
export interface SettingsGround {
  readonly conditions: ConditionCompiler;
  readonly isNode: (id: string) => boolean;
}

/** A placeholder or condition of the settings, or what is wrong there. */
export interface SettingsExpression {
  /** JSON pointer within `data`. */
  readonly path: string;
  readonly references?: References;
  readonly faults: readonly { readonly code: string; readonly message: string }[];
}

/** Settings of a node whose placeholders and conditions are compiled. */
export class Settings {
  readonly #ground: SettingsGround;
  readonly #schema: TSchema;
  readonly #data: Fields;
  readonly #renders: ReadonlyMap<string, Render>;
  readonly expressions: readonly SettingsExpression[];

  constructor(data: Fields, schema: TSchema, ground: SettingsGround) {
    this.#ground = ground;
    this.#schema = schema;
    this.#data = data;
    const reader = new SettingsReader(ground);
    this.#renders = reader.readFields(data, [schema], '');
    this.expressions = reader.expressions;
  }

  /**
   * The settings with everything rendered; `inputs` stand in for settings of their names, their
   * placeholders rendered too unless they are taken as they are. Fault `invalid` (`expression_failed`)
   * with the path, or as `refuseAuthorsSettings` and `refuseOtherOrigins` throw.
   */
  render(scope: Scope, inputs: Fields | undefined, how: MergeOptions = {}): Fields {
    const budget = openRenderBudget();
    if (inputs === undefined) return renderFields(this.#data, this.#renders, { scope, budget });
    const given = Object.fromEntries(Object.entries(inputs).filter(([name]) => isAllowed(name)));
    refuseAuthorsSettings(this.#schema, given);
    const { isAsIs = false, shown = scope } = how;
    const isKept = (name: string) => !Object.hasOwn(given, name);
    const full = this.#renderOwn(isKept, scope, budget);
    const isAllShown = shown === scope;
    const kept = isAllShown
      ? full
      : withSecrets(this.#schema, full, this.#renderOwn(isKept, shown, budget));
    const merged = isAsIs
      ? refuseConditions(this.#schema, given)
      : this.#renderInputs(given, shown, budget);
    refuseOtherOrigins(this.#schema, { kept, merged }, (address) =>
      this.#renderOwn((name) => name === address, scope, budget),
    );
    return { ...kept, ...merged };
  }

  /** The author's settings of some names. */
  #renderOwn(isWanted: (name: string) => boolean, scope: Scope, budget: RenderBudget): Fields {
    const wanted = Object.entries(this.#data).filter(([name]) => isWanted(name));
    return renderFields(Object.fromEntries(wanted), this.#renders, { scope, budget });
  }

  #renderInputs(inputs: Fields, scope: Scope, budget: RenderBudget): Fields {
    const reader = new SettingsReader(this.#ground);
    const renders = reader.readFields(inputs, [this.#schema], '');
    for (const { path, faults } of reader.expressions) {
      const [fault] = faults;
      if (fault) throw expressionFault(fault.message, path);
    }
    return renderFields(inputs, renders, { scope, budget });
  }
}

class SettingsReader {
  readonly expressions: SettingsExpression[] = [];
  readonly #ground: SettingsGround;

  constructor(ground: SettingsGround) {
    this.#ground = ground;
  }

  /** How the fields that have something to render are rendered. */
  readFields(fields: Fields, schemas: readonly TSchema[], path: string): Map<string, Render> {
    const renders = new Map<string, Render>();
    for (const [name, value] of Object.entries(fields)) {
      const pointer = `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      const render = this.#read(value, fieldSchemas(schemas, name), pointer);
      if (render) renders.set(name, render);
    }
    return renders;
  }

  #read(value: unknown, schemas: readonly TSchema[], path: string): Render | undefined {
    const markers = new Set(schemas.map(markerOf));
    if (markers.has('code')) return undefined;
    if (markers.has('cel')) return this.#readCondition(value, path);
    if (typeof value === 'string') return this.#readText(value, schemas, path);
    if (typeof value !== 'object' || value === null) return undefined;
    if (path.split('/').length > flowLimits.depth + 1) {
      this.#note(path, 'TOO_LARGE', `settings are at most ${flowLimits.depth} levels deep`);
      return undefined;
    }
    return Array.isArray(value)
      ? this.#readList(value, schemas, path)
      : this.#readObject(value as Fields, schemas, path);
  }

  #readObject(fields: Fields, schemas: readonly TSchema[], path: string): Render | undefined {
    const renders = this.readFields(fields, schemas, path);
    if (renders.size === 0) return undefined;
    return (scope, budget) => renderFields(fields, renders, { scope, budget });
  }

  #readList(
    items: readonly unknown[],
    schemas: readonly TSchema[],
    path: string,
  ): Render | undefined {
    const renders = items.map((item, index) =>
      this.#read(item, itemSchemas(schemas, index), `${path}/${index}`),
    );
    if (renders.every((render) => render === undefined)) return undefined;
    const isDense = schemas.some((schema) => markerOf(schema) === 'dense');
    return (scope, budget) => {
      const rendered = items.map((item, index) => {
        const render = renders[index];
        return render ? render(scope, budget) : item;
      });
      return isDense
        ? rendered.filter((item) => item !== undefined)
        : rendered.map((item) => item ?? null);
    };
  }

  #readText(text: string, schemas: readonly TSchema[], path: string): Render | undefined {
    if (!isTemplate(text)) return undefined;
    const template = this.#compile(path, () => compileTemplate(text, this.#ground.isNode));
    if (!template) return undefined;
    const isText = schemas.length > 0 && schemas.every(takesTextOnly);
    const isNullable = schemas.length === 0 || schemas.some(takesNull);
    const none = schemas.some((schema) => markerOf(schema) === 'nullable') ? null : undefined;
    return (scope, budget) => {
      const rendered = atPath(path, () => template.render(scope, budget));
      const value = rendered === undefined ? none : rendered;
      // Where null can never stand, it means that the setting is not given.
      if (value === undefined || (value === null && !isNullable)) return undefined;
      return isText ? textOf(value) : value;
    };
  }

  #readCondition(value: unknown, path: string): Render | undefined {
    if (typeof value !== 'string') return undefined;
    if (isTemplate(value)) {
      const message = 'a condition is CEL: write node.path, without braces';
      this.#note(path, 'BAD_EXPRESSION', message);
      return undefined;
    }
    const { conditions, isNode } = this.#ground;
    const condition = this.#compile(path, () => conditions.compile(value, isNode));
    return condition && ((scope) => atPath(path, () => condition.holds(scope)));
  }

  #compile<Compiled extends { readonly references: References & { problems: readonly string[] } }>(
    path: string,
    compile: () => Compiled,
  ): Compiled | undefined {
    try {
      const compiled = compile();
      const { references } = compiled;
      const faults = references.problems.map((message) => ({ code: 'UNKNOWN_REFERENCE', message }));
      this.expressions.push({ path, references, faults });
      return compiled;
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      this.#note(path, 'BAD_EXPRESSION', error.message);
      return undefined;
    }
  }

  #note(path: string, code: string, message: string): void {
    this.expressions.push({ path, faults: [{ code, message }] });
  }
}

function renderFields(
  fields: Fields,
  renders: ReadonlyMap<string, Render>,
  { scope, budget }: { readonly scope: Scope; readonly budget: RenderBudget },
): Fields {
  const rendered: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (!isAllowed(name)) continue;
    const render = renders.get(name);
    const result = render ? render(scope, budget) : value;
    if (result !== undefined) rendered[name] = result;
  }
  return rendered;
}

function isAllowed(name: string): boolean {
  return !forbiddenKeys.has(name);
}

function atPath<Result>(path: string, evaluate: () => Result): Result {
  try {
    return evaluate();
  } catch (error) {
    throw error instanceof Fault ? expressionFault(`${path}: ${error.message}`, path) : error;
  }
}

interface SchemaParts {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly patternProperties?: Readonly<Record<string, TSchema>>;
  readonly additionalProperties?: TSchema | boolean;
  readonly items?: TSchema | readonly TSchema[];
  readonly anyOf?: readonly TSchema[];
  readonly allOf?: readonly TSchema[];
  readonly oneOf?: readonly TSchema[];
}

/** A schema and those that it chooses from. */
function withBranches(schema: TSchema): readonly TSchema[] {
  const { anyOf = [], allOf = [], oneOf = [] }: SchemaParts = schema;
  return [schema, ...[...anyOf, ...allOf, ...oneOf].flatMap(withBranches)];
}

function fieldSchemas(schemas: readonly TSchema[], name: string): readonly TSchema[] {
  return schemas.flatMap((schema: SchemaParts) => {
    const { properties = {}, patternProperties = {}, additionalProperties } = schema;
    const own = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (own) return withBranches(own);
    const others = Object.values(patternProperties);
    if (typeof additionalProperties === 'object') others.push(additionalProperties);
    return others.flatMap(withBranches);
  });
}

function itemSchemas(schemas: readonly TSchema[], index: number): readonly TSchema[] {
  return schemas.flatMap(({ items }: SchemaParts) => {
    const item = Array.isArray(items) ? (items as readonly TSchema[])[index] : items;
    return item ? withBranches(item) : [];
  });
}

function takesNull(schema: TSchema): boolean {
  return Value.Check(schema, null);
}

function takesTextOnly(schema: SchemaParts): boolean {
  return schema.type === 'string';
}
