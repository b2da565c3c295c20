import { Type } from 'typebox';
import { celSchema, defineComponent, handleSchema, readCondition } from '../schema.ts';

const defaultHandle = 'default';

/** Leads on along the first case that holds. */
export const switchComponent = defineComponent({
  name: 'Switch',
  group: 'logic',
  title: 'Switch',
  description:
    'Decides between several ways: ends on the handle of the first case whose condition holds, and on `default` when none does.',
  input: Type.Object(
    {
      cases: Type.Array(
        Type.Object({
          when: celSchema('CEL; the case is taken when it holds and no case before it does'),
          handle: handleSchema('where the flow goes on then'),
        }),
        { minItems: 1, maxItems: 50, description: 'tried in this order; all are evaluated' },
      ),
      default: Type.Optional(handleSchema('when no case holds; `default` when absent')),
    },
    {
      examples: [
        {
          cases: [
            { when: 'triage.json.priority == "high"', handle: 'urgent' },
            { when: 'triage.json.priority == "low"', handle: 'later' },
          ],
          default: 'normal',
        },
      ],
    },
  ),
  output: Type.Object({ case: Type.String({ description: 'the handle that was taken' }) }),
  handles: (data) => [...new Set([...caseHandles(data), readDefault(data)])],
  handleOf: ({ case: taken }) => (typeof taken === 'string' ? taken : undefined),
  effect: 'none',
  typicalMs: 1,
  run: async (data) => {
    const taken = data.cases.find(({ when }) => readCondition(when));
    const handle = taken?.handle ?? data.default ?? defaultHandle;
    return { kind: 'done', output: { case: handle }, handle };
  },
});

/** Of settings that nothing has checked yet. */
function caseHandles({ cases }: Readonly<Record<string, unknown>>): readonly string[] {
  if (!Array.isArray(cases)) return [];
  return cases.flatMap((one: unknown) => {
    const isNamed = typeof one === 'object' && one !== null && 'handle' in one;
    return isNamed && typeof one.handle === 'string' ? [one.handle] : [];
  });
}

function readDefault({ default: handle }: Readonly<Record<string, unknown>>): string {
  return typeof handle === 'string' ? handle : defaultHandle;
}
