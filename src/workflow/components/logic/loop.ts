import { Type } from 'typebox';
import { Fault } from '../../../kit/errors.ts';
import { defineComponent } from '../schema.ts';

/** Runs what leads back to it once for each item; the engine walks it. */
export const loop = defineComponent({
  name: 'Loop',
  group: 'logic',
  title: 'Loop',
  description:
    'Runs its body once for each item: the nodes on a path from the Loop back to it. They see `{{ loop.item }}` and `{{ loop.index }}`; a round gives the output of the node that leads back. Edges on the handle `done` go on when all rounds are over.',
  input: Type.Object(
    {
      items: Type.Array(Type.Unknown(), { maxItems: 10_000 }),
      concurrency: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 32,
          default: 1,
          description: 'rounds at once; in order, one after the other, when it is 1',
        }),
      ),
    },
    { examples: [{ items: '{{ search.results }}', concurrency: 4 }] },
  ),
  output: Type.Object({
    results: Type.Array(Type.Unknown(), { description: 'one for each item, in their order' }),
    count: Type.Integer(),
  }),
  handles: ['body', 'done'],
  effect: 'none',
  control: 'loop',
  typicalMs: 10,
  run: async () => {
    throw new Fault('internal', 'a Loop is walked, not run');
  },
});
