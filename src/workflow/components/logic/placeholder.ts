import { Type } from 'typebox';
import { Fault } from '../../../kit/errors.ts';
import { defineComponent } from '../schema.ts';
import { AnyKey } from '../../../kit/any-key.ts';

const input = Type.Object(
  {
    source: Type.Optional(
      Type.String({ maxLength: 256, 'x-ennead': 'code', description: 'what it was, and where' }),
    ),
    reason: Type.Optional(
      Type.String({ maxLength: 2_000, 'x-ennead': 'code', description: 'why it is none of ours' }),
    ),
    imported: Type.Optional(
      Type.Unknown({ 'x-ennead': 'code', description: 'its settings as they were; never read' }),
    ),
    handles: Type.Optional(
      Type.Array(Type.String({ maxLength: 64 }), {
        maxItems: 100,
        description: 'on which edges leave it',
      }),
    ),
  },
  {
    examples: [{ source: 'Code (n8n-nodes-base.code)', reason: 'scripts of others are never run' }],
  },
);

/** Stands where an import found a step that there is no component for. */
export const placeholder = defineComponent({
  name: 'Placeholder',
  group: 'logic',
  title: 'Placeholder',
  description:
    'Stands for a step of an imported workflow that has no counterpart here. It keeps the step’s settings for whoever replaces it, and fails as `NOT_SUPPORTED` when it is run.',
  input,
  output: Type.Record(AnyKey, Type.Unknown(), { description: 'it never gives any' }),
  handles: ({ handles }) =>
    Array.isArray(handles) ? handles.filter((one): one is string => typeof one === 'string') : [],
  handleOf: ({ handle }) => (typeof handle === 'string' ? handle : undefined),
  effect: 'none',
  typicalMs: 1,
  run: async ({ source = 'this step', reason = 'it has no counterpart here' }) => {
    const message = `${source} was imported and is not supported: ${reason}; replace it`;
    throw new Fault('unimplemented', message, { reason: 'not_supported' });
  },
});
