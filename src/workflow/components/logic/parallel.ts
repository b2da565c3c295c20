import { Type } from 'typebox';
import { Fault } from '../../../kit/errors.ts';
import { defineComponent } from '../schema.ts';

/** Runs its successors at once; the engine walks it. */
export const parallel = defineComponent({
  name: 'Parallel',
  group: 'logic',
  title: 'Parallel',
  description:
    'Runs the nodes that its edges lead to at once, and ends when they have ended. Their outputs are its results, in the order of the edges.',
  input: Type.Object({}, { examples: [{}] }),
  output: Type.Object({
    results: Type.Array(Type.Unknown(), { description: 'in the order of the edges' }),
  }),
  effect: 'none',
  control: 'parallel',
  typicalMs: 10,
  run: async () => {
    throw new Fault('internal', 'a Parallel is walked, not run');
  },
});
