import { Type, type Static, type TSchema } from 'typebox';
import { Fault } from '../../kit/errors.ts';
import type { Component, NodeContext, NodeOutcome } from './component.ts';

/**
 * What a setting holds beyond its type, as `x-ennead` in its schema. `cel`: a condition, compiled
 * when the flow is saved and handed to `run` as its result; `code`: a text in another language; both
 * are never rendered as Liquid. `secret`: kept out of journals, events and logs. `multiline`: a text
 * that an editor gives room. `dense`: a list that leaves out items whose placeholder finds nothing,
 * where any other list has null in their places. `nullable`: null where its placeholder finds nothing,
 * where any other setting is then as if it were not given; for settings whose absence means something.
 * `headers`: of a request; those whose names say so are secrets. `address`: where the node's secrets are
 * sent. `author`: only who makes the workflow sets it, never who executes it.
 */
export type Marker =
  | 'cel'
  | 'code'
  | 'secret'
  | 'multiline'
  | 'dense'
  | 'nullable'
  | 'headers'
  | 'address'
  | 'author';

/** The marker of a setting's schema. */
export function markerOf(schema: TSchema): Marker | undefined {
  const { 'x-ennead': marker } = schema as { readonly 'x-ennead'?: Marker };
  return marker;
}

/** Characters of a condition. */
const celLengthMax = 4_096;

/** A condition: written as CEL, or fixed; `run` sees whether it holds. */
export function celSchema(description: string) {
  return Type.Union([Type.String({ minLength: 1, maxLength: celLengthMax }), Type.Boolean()], {
    'x-ennead': 'cel' satisfies Marker,
    description,
  });
}

/** The result of a condition; Fault `internal` when nothing has evaluated it. */
export function readCondition(value: string | boolean): boolean {
  if (typeof value === 'boolean') return value;
  throw new Fault('internal', 'the condition was not evaluated');
}

/** The name of a handle that a flow chooses by itself. */
export function handleSchema(use: string) {
  return Type.String({
    pattern: '^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$',
    description: `up to 64 letters, digits, underscores and hyphens: ${use}`,
  });
}

/** A component whose `run` sees its settings with their types. */
export interface ComponentDefinition<Input extends TSchema> extends Omit<
  Component,
  'input' | 'run'
> {
  readonly input: Input;
  readonly run: (data: Static<Input>, context: NodeContext) => Promise<NodeOutcome>;
}

/**
 * The component of a definition. `run` trusts its settings: the engine holds them against the schema
 * and fills in defaults first.
 */
export function defineComponent<Input extends TSchema>({
  run,
  ...definition
}: ComponentDefinition<Input>): Component {
  return { ...definition, run: async (data, context) => run(data as Static<Input>, context) };
}
