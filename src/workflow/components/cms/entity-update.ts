import { Type } from 'typebox';
import type { Component } from '../component.ts';
import { defineComponent } from '../schema.ts';
import type { Drupal } from './drupal.ts';
import { bundle, entityType, fields, nid } from './settings.ts';

/** Changes content of the CMS. */
export function createEntityUpdate(cms: Pick<Drupal, 'update'>): Component {
  return defineComponent({
    name: 'EntityUpdate',
    group: 'cms',
    title: 'Update entity',
    description:
      'Changes fields of content in the CMS, over Drupal’s JSON:API; fields that are not named stay.',
    input: Type.Object(
      {
        nid,
        bundle: Type.Optional(
          Type.Union([bundle], { description: 'of a node it is found by its number when absent' }),
        ),
        fields,
        entityType,
      },
      { examples: [{ nid: '{{ article.nid }}', bundle: 'article', fields: { status: true } }] },
    ),
    output: Type.Object({
      updated: Type.Boolean({ description: 'true' }),
      nid: Type.Union([nid, Type.Null()]),
      url: Type.String(),
      uuid: Type.String(),
    }),
    effect: 'repeatable',
    typicalMs: 600,
    run: async ({ fields: values, ...place }, context) => {
      const changed = await cms.update(place, values, context);
      const { nid: number, url, uuid } = changed;
      return { kind: 'done', output: { updated: true, nid: number, url, uuid } };
    },
  });
}
