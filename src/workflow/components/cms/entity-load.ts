import { Type } from 'typebox';
import { Fault } from '../../../kit/errors.ts';
import type { Component } from '../component.ts';
import { defineComponent } from '../schema.ts';
import type { Drupal } from './drupal.ts';
import { bundle, entity, entityType, nid } from './settings.ts';

/** Reads content of the CMS. */
export function createEntityLoad(cms: Pick<Drupal, 'load'>): Component {
  return defineComponent({
    name: 'EntityLoad',
    group: 'cms',
    title: 'Load entity',
    description:
      'Reads content of the CMS by its number or UUID, over Drupal’s JSON:API. One of `nid` and `uuid` is needed; with a `uuid` the `bundle` too.',
    input: Type.Object(
      {
        nid: Type.Optional(nid),
        uuid: Type.Optional(Type.String({ pattern: '^[0-9a-fA-F-]{36}$', description: 'a UUID' })),
        bundle: Type.Optional(
          Type.Union([bundle], { description: 'of a node it is found by its number when absent' }),
        ),
        entityType,
      },
      { examples: [{ nid: '{{ inputs.nid }}', bundle: 'article' }] },
    ),
    output: Type.Object({ entity }),
    effect: 'none',
    typicalMs: 300,
    run: async (place, context) => {
      if (place.nid === undefined && place.uuid === undefined) {
        const message = 'one of nid and uuid is needed';
        throw new Fault('invalid', message, { reason: 'bad_setting' });
      }
      return { kind: 'done', output: { entity: await cms.load(place, context) } };
    },
  });
}
