import { Type } from 'typebox';
import { Fault } from '../../../kit/errors.ts';
import type { Hit, Search } from '../../collections/collection.ts';
import { conversationsName, type Collections } from '../../collections/collections.ts';
import type { Component, NodeContext } from '../component.ts';
import { defineComponent } from '../schema.ts';
import { callOptions } from '../call-options.ts';
import { textOf, textSetting } from './text-setting.ts';
import { AnyKey } from '../../../kit/any-key.ts';

/** Searches the chats of whoever the execution belongs to. */
export type SearchConversations = (search: Search, context: NodeContext) => Promise<readonly Hit[]>;

export interface VectorSearchDependencies {
  readonly collections: Pick<Collections, 'search'>;
  /** Absent where the chat service offers no search. */
  readonly searchConversations?: SearchConversations | undefined;
}

/** Finds texts by meaning. */
export function createVectorSearch(dependencies: VectorSearchDependencies): Component {
  const { collections, searchConversations } = dependencies;
  return defineComponent({
    name: 'VectorSearch',
    group: 'ai',
    title: 'Vector search',
    description:
      'Finds the documents of a collection that are closest to a text in meaning. Collections are made and filled at `/api/v1/collections`; `conversations` are your chats.',
    input: Type.Object(
      {
        query: textSetting('what is looked for'),
        collection: Type.String({ minLength: 1, maxLength: 128, description: 'its name' }),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 10 })),
        minScore: Type.Optional(
          Type.Number({ minimum: -1, maximum: 1, description: 'leaves out what is less close' }),
        ),
        filter: Type.Optional(
          Type.Record(AnyKey, Type.Unknown(), {
            description: 'fields that the metadata must have, with these values',
          }),
        ),
      },
      { examples: [{ query: '{{ inputs.question }}', collection: 'handbook', limit: 3 }] },
    ),
    output: Type.Object({
      results: Type.Array(
        Type.Object({
          id: Type.String(),
          content: Type.String({ description: 'the part of the document that is closest' }),
          score: Type.Number({
            description:
              'cosine: 1 the same, 0 unrelated; of chats how likely they are meant, 0..1',
          }),
          metadata: Type.Object({}, { additionalProperties: true }),
        }),
      ),
      count: Type.Integer(),
    }),
    effect: 'none',
    typicalMs: 100,
    run: async ({ query, collection, limit = 10, minScore, filter }, context) => {
      const search = {
        query: textOf(query),
        limit,
        ...(minScore !== undefined && { minScore }),
        ...(filter && { filter }),
      };
      const results =
        collection === conversationsName
          ? await (searchConversations ?? refuseConversations)(search, context)
          : await collections.search(collection, { ...search, ...callOptions(context) });
      return { kind: 'done', output: { results, count: results.length } };
    },
  });
}

function refuseConversations(): never {
  throw new Fault('unimplemented', 'the chats cannot be searched here', {
    reason: 'not_available',
  });
}
