import { Type } from 'typebox';
import type { Component } from '../component.ts';
import { defineComponent } from '../schema.ts';
import type { Drupal } from './drupal.ts';
import { bundle, entityType, fields, nid } from './settings.ts';

/** Creates content in the CMS. */
export function createEntityCreate(cms: Pick<Drupal, 'create'>): Component {
  return defineComponent({
    name: 'EntityCreate',
    group: 'cms',
    title: 'Create entity',
    description:
      'Creates content in the CMS, over Drupal’s JSON:API. However often it is tried, one entity is created.',
    input: Type.Object(
      { bundle, fields, entityType },
      {
        examples: [
          {
            bundle: 'article',
            fields: {
              title: '{{ draft.json.title }}',
              body: { value: '{{ draft.json.body }}', format: 'basic_html' },
            },
          },
        ],
      },
    ),
    output: Type.Object({
      nid: Type.Union([nid, Type.Null()]),
      url: Type.String(),
      uuid: Type.String(),
    }),
    effect: 'once',
    typicalMs: 500,
    run: async ({ bundle: name, fields: values, entityType: type = 'node' }, context) => {
      const kind = { entityType: type, bundle: name };
      const entry = { fields: values, key: context.idempotencyKey };
      const created = await cms.create(kind, entry, context);
      const { nid: number, url, uuid } = created;
      const output = { nid: number, url, uuid };
      return { kind: 'done', output, entityCreated: { ...kind, ...output } };
    },
  });
}
