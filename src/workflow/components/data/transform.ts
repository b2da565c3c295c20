import jsonata from 'jsonata';
import { Type } from 'typebox';
import type { Component } from '../component.ts';
import { defineComponent, type Marker } from '../schema.ts';
import type { Transformer } from './transformer.ts';

const timeoutDefault = 500;
const timeoutMax = 5_000;

const input = Type.Object(
  {
    expression: Type.String({
      minLength: 1,
      maxLength: 16_384,
      'x-ennead': 'code',
      description:
        'JSONata over `input`; placeholders have no meaning in it, and neither has $eval',
    }),
    input: Type.Optional(
      Type.Unknown({
        'x-ennead': 'nullable' satisfies Marker,
        description:
          'the outputs of the nodes before, by id, where this is not given; null where its placeholder finds nothing',
      }),
    ),
    timeout: Type.Optional(
      Type.Integer({
        minimum: 10,
        maximum: timeoutMax,
        default: timeoutDefault,
        description: 'milliseconds of evaluation',
      }),
    ),
  },
  {
    examples: [
      {
        input: '{{ fetch.body.orders }}',
        expression: '{ "total": $sum(price * quantity), "names": [$distinct(customer.name)] }',
      },
    ],
  },
);

/** Reshapes data. */
export function createTransform(transformer: Pick<Transformer, 'evaluate'>): Component {
  return defineComponent({
    name: 'Transform',
    group: 'data',
    title: 'Transform',
    description:
      'Reshapes data with a JSONata expression: selects, sums, groups, renames. It runs apart, in bounded time and memory, and reaches nothing but its input.',
    input,
    output: Type.Object({ result: Type.Unknown({ description: 'null where nothing matches' }) }),
    effect: 'none',
    typicalMs: 5,
    run: async (data, { predecessors, ownerId, signal }) => {
      const { expression, timeout: timeoutMs = timeoutDefault } = data;
      const of = data.input === undefined ? predecessors : data.input;
      const task = { expression, input: of, timeoutMs, ownerId, signal };
      return { kind: 'done', output: { result: await transformer.evaluate(task) } };
    },
    check: ({ expression }) => {
      const message = typeof expression === 'string' ? findSyntaxFault(expression) : undefined;
      return message === undefined ? [] : [{ path: '/expression', message }];
    },
  });
}

/** What is wrong with an expression; parsing evaluates nothing. */
function findSyntaxFault(expression: string): string | undefined {
  try {
    jsonata(expression);
    return undefined;
  } catch (error) {
    // The parser throws plain objects too.
    const { message } = (error ?? {}) as { readonly message?: unknown };
    return typeof message === 'string' ? message : 'it is no JSONata';
  }
}
