import { Type, type Static, type TSchema } from 'typebox';
import { Value } from 'typebox/value';
import type { Environment } from './environment.ts';
import { Fault } from './errors.ts';
import { findFlaws } from './schema-flaws.ts';
import { convertText } from './text-values.ts';

export { processEnvironment, type Environment } from './environment.ts';

/** A value that never shows itself: text, JSON and inspection all give `***`. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The value itself, for the one place that needs it. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return '***';
  }

  toJSON(): string {
    return '***';
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return '***';
  }
}

/** One environment variable: its name, what it may be, what it is for. */
export interface Setting<T = unknown> {
  readonly env: string;
  readonly schema: TSchema;
  readonly description: string;
  readonly isSecret: boolean;
  /** Carries the value's type; never set. */
  readonly type?: T;
}

export type Settings = Readonly<Record<string, Setting>>;

/** The values of settings, by the same keys. */
export type ConfigOf<S extends Settings> = {
  readonly [K in keyof S]: S[K] extends Setting<infer T> ? T : never;
};

/** Declares an environment variable that may be absent. */
export function setting<T extends TSchema>(
  env: string,
  schema: T,
  description: string,
): Setting<Static<T> | undefined> {
  return { env, schema, description, isSecret: false };
}

/** Declares an environment variable with a default. */
export function settingOr<T extends TSchema>(
  env: string,
  { schema, or }: { readonly schema: T; readonly or: Static<T> },
  description: string,
): Setting<Static<T>> {
  return { env, schema: withDefault(schema, or), description, isSecret: false };
}

/** A copy of a schema with a default; TypeBox's hidden marks stay on it. */
function withDefault(schema: TSchema, value: unknown): TSchema {
  const marks = Object.getOwnPropertyDescriptors(schema);
  return Object.defineProperties<TSchema>({}, { ...marks, default: { value, enumerable: true } });
}

/** Declares an optional secret. */
export function secretSetting(env: string, description: string): Setting<Secret | undefined> {
  return { env, schema: Type.String({ minLength: 1 }), description, isSecret: true };
}

/**
 * Reads groups of settings from an environment. An empty variable counts as absent. All faults are
 * reported at once, as one Fault whose message has a line for each.
 */
export function readConfig<G extends Readonly<Record<string, Settings>>>(
  groups: G,
  environment: Environment,
): { readonly [K in keyof G]: ConfigOf<G[K]> } {
  const flaws: string[] = [];
  const read = (settings: Settings) =>
    Object.fromEntries(
      Object.entries(settings).map(([key, one]) => [key, readSetting(one, environment, flaws)]),
    );
  const config = Object.fromEntries(
    Object.entries(groups).map(([key, group]) => [key, read(group)]),
  );
  if (flaws.length > 0) throw new Fault('invalid', flaws.join('\n'), { reason: 'bad_setting' });
  return config as { readonly [K in keyof G]: ConfigOf<G[K]> };
}

function readSetting(one: Setting, environment: Environment, flaws: string[]): unknown {
  const text = environment[one.env];
  const { default: fallback } = one.schema as { default?: unknown };
  if (text === undefined || text === '') return fallback;
  const value = convertText(one.schema, text);
  const [flaw] = findFlaws(Value.Errors(one.schema, value), one.schema);
  if (flaw) flaws.push(`${one.env} ${flaw.message}${one.isSecret ? '' : `, not "${text}"`}`);
  return one.isSecret ? new Secret(text) : value;
}

/** Variables that look like ours but that no setting declares: most likely misspelt. */
export function unknownVariables(
  groups: Readonly<Record<string, Settings>>,
  environment: Environment,
): string[] {
  const known = new Set(Object.values(groups).flatMap((group) => envNames(group)));
  const isOurs = /^(ENNEAD_|RATE_LIMIT_)/;
  return Object.keys(environment).filter((name) => isOurs.test(name) && !known.has(name));
}

function envNames(settings: Settings): string[] {
  return Object.values(settings).map(({ env }) => env);
}

/** The settings as Markdown tables, one for each group. */
export function describeSettings(groups: Readonly<Record<string, Settings>>): string {
  const tables = Object.entries(groups).map(([name, settings]) => {
    const rows = Object.values(settings).map(describeSetting).join('\n');
    return `## ${name}\n\n| variable | default | meaning |\n|---|---|---|\n${rows}\n`;
  });
  return `# Settings\n\nEvery environment variable that Ennead reads.\n\n${tables.join('\n')}`;
}

function describeSetting({ env, schema, description, isSecret }: Setting): string {
  const { default: fallback } = schema as { default?: string | number };
  const shown = fallback === undefined ? 'none' : `\`${fallback}\``;
  return `| \`${env}\` | ${shown} | ${description}${isSecret ? ' (secret)' : ''} |`;
}
