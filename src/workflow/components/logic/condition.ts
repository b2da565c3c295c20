import { Type } from 'typebox';
import { celSchema, defineComponent, readCondition } from '../schema.ts';

/** Leads on along `true` or `false`. */
export const condition = defineComponent({
  name: 'Condition',
  group: 'logic',
  title: 'Condition',
  description:
    'Decides between two ways: ends on the handle `true` when its condition holds, else on `false`.',
  input: Type.Object(
    { condition: celSchema('CEL over the outputs of earlier nodes, by their ids, and `inputs`') },
    { examples: [{ condition: 'review.json.score >= 0.8 && size(inputs.draft.text) > 0' }] },
  ),
  output: Type.Object({ result: Type.Boolean({ description: 'whether the condition holds' }) }),
  handles: ['true', 'false'],
  handleOf: ({ result }) => (typeof result === 'boolean' ? String(result) : undefined),
  effect: 'none',
  typicalMs: 1,
  run: async (data) => {
    const result = readCondition(data.condition);
    return { kind: 'done', output: { result }, handle: String(result) };
  },
});
