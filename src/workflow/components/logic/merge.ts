import { Type } from 'typebox';
import { Fault } from '../../../kit/errors.ts';
import { defineComponent, type Marker } from '../schema.ts';
import { AnyKey } from '../../../kit/any-key.ts';

type Fields = Readonly<Record<string, unknown>>;
type Present = Fields | readonly unknown[];

const list = Type.Array(Type.Unknown(), { 'x-ennead': 'dense' satisfies Marker });

/** Brings branches together. */
export const merge = defineComponent({
  name: 'Merge',
  group: 'logic',
  title: 'Merge',
  description:
    'Brings branches together. Takes the outputs of the nodes that lead here, or what `inputs` names; branches that were skipped are left out, a null is kept.',
  input: Type.Object(
    {
      inputs: Type.Optional(
        Type.Union([Type.Record(AnyKey, Type.Unknown()), list, Type.Null()], {
          'x-ennead': 'nullable' satisfies Marker,
          description:
            'an object gives an object, a list a list; the outputs of the nodes before, by id, where this is not given; nothing where its placeholder finds nothing',
        }),
      ),
      mode: Type.Optional(
        Type.Enum(['collect', 'combine', 'concat', 'first'], {
          default: 'collect',
          description:
            '`collect` keeps each under its name or place; `combine` makes one object of objects, later ones win; `concat` one list of lists; `first` is the first that is there. `combine` and `first` pass over null',
        }),
      ),
    },
    {
      examples: [
        { inputs: { summary: '{{ summarise.text }}', tags: '{{ classify.json.tags }}' } },
        { mode: 'concat' },
      ],
    },
  ),
  output: Type.Object({ merged: Type.Unknown() }),
  effect: 'none',
  typicalMs: 1,
  run: async ({ inputs, mode = 'collect' }, { predecessors }) => {
    const present = leaveOutAbsent(inputs === undefined ? predecessors : (inputs ?? {}));
    return { kind: 'done', output: { merged: modes[mode](present) } };
  },
});

const modes = {
  collect: (present: Present) => present,
  combine: (present: Present) =>
    // `Object.assign` would call the setter of `__proto__`.
    Object.fromEntries(withoutNull(present).flatMap((value) => Object.entries(toFields(value)))),
  concat: (present: Present) => Object.values(present).flat(),
  first: (present: Present) => withoutNull(present)[0] ?? null,
};

/** A placeholder of a node that was skipped is rendered as nothing. */
function leaveOutAbsent(inputs: Present): Present {
  if (Array.isArray(inputs)) return inputs.filter(isPresent);
  return Object.fromEntries(Object.entries(inputs).filter(([, value]) => isPresent(value)));
}

function isPresent(value: unknown): boolean {
  return value !== undefined;
}

function withoutNull(present: Present): readonly unknown[] {
  return Object.values(present).filter((value) => value !== null);
}

function toFields(value: unknown): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Fields;
  }
  const message = 'only objects can be combined; use the mode collect or concat';
  throw new Fault('invalid', message, { reason: 'merge_not_object' });
}
