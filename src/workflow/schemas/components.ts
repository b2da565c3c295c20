import { Type, type Static } from 'typebox';
import type { Route } from '../../kit/contract.ts';
import { AnyKey } from '../../kit/any-key.ts';

const jsonSchema = Type.Object({}, { additionalProperties: true, description: 'a JSON Schema' });
const fields = (description: string) => Type.Record(AnyKey, jsonSchema, { description });

export const componentGroups = ['ai', 'cms', 'tools', 'logic', 'data'] as const;
const group = Type.Enum(componentGroups);

/** A component as an editor needs it. */
export const componentAnswer = Type.Object(
  {
    name: Type.String({ description: 'the `type` of its nodes' }),
    group,
    title: Type.String(),
    description: Type.String(),
    inputs: fields(
      "its settings by name. `x-ennead`: `cel` is a condition, `code` another language's text, `secret` is kept out of journals, `multiline` wants room, `dense` is a list without what placeholders do not find, `nullable` is null where its placeholder finds nothing, `headers` are secret where their names say so, `address` is where the node’s secrets are sent, `author` is replaced by no inputs",
    ),
    required: Type.Array(Type.String(), { description: 'inputs that must be there' }),
    outputs: fields('what placeholders find behind its node, by name'),
    examples: Type.Array(Type.Object({}, { additionalProperties: true }), {
      description: 'settings that work',
    }),
    handles: Type.Array(Type.String(), {
      description: 'on which it can end, for `sourceHandle`; empty when there is only one way',
    }),
    hasOwnHandles: Type.Boolean({ description: 'whether its settings add handles' }),
    effect: Type.Enum(['none', 'repeatable', 'once'], {
      description:
        '`none`: it only computes; `repeatable`: doing it again changes nothing; `once`: it acts on the world',
    }),
    control: Type.Optional(Type.Enum(['loop', 'parallel'])),
    needsCallerToken: Type.Boolean({ description: 'whether it acts with the token of the caller' }),
    permission: Type.Optional(
      Type.Array(Type.String(), {
        description: 'whoever starts a flow with it holds one of these',
      }),
    ),
    typicalMs: Type.Integer({ description: 'milliseconds that it takes as a rule' }),
    timeout: Type.Optional(
      Type.Integer({
        description:
          'milliseconds that an attempt may take by default; absent of what waits, or runs other nodes',
      }),
    ),
  },
  { $id: 'WorkflowComponent' },
);
export type ComponentAnswer = Static<typeof componentAnswer>;

/** The components that flows are made of. */
export const componentRoutes = {
  listComponents: {
    method: 'GET',
    url: '/api/v1/components',
    summary: 'List the components that flows are made of, by group',
    schema: {
      query: Type.Object({
        group: Type.Optional({ ...group, description: 'only the components of this group' }),
      }),
      response: {
        200: Type.Object({
          components: Type.Array(componentAnswer, { description: 'group by group' }),
          groups: Type.Array(
            Type.Object({
              name: group,
              title: Type.String(),
              components: Type.Array(Type.String(), { description: 'their names' }),
            }),
          ),
          total: Type.Integer(),
        }),
      },
    },
  },
  getComponent: {
    method: 'GET',
    url: '/api/v1/components/:name',
    summary: 'Show one component with the schemas of what it takes and gives',
    schema: {
      params: Type.Object({
        name: Type.String({ minLength: 1, maxLength: 64, description: 'the `type` of its nodes' }),
      }),
      response: { 200: componentAnswer },
    },
  },
} as const satisfies Record<string, Route>;
