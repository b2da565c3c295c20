import { Fault } from '../../kit/errors.ts';
import type { Call, Handler } from '../../kit/http/call.ts';
import type { Identity } from '../../kit/identity/identity.ts';
import { allows } from '../../kit/permissions.ts';
import type { CountedCollection, Metadata, NewDocument } from '../collections/collection.ts';
import type { Author, Collections } from '../collections/collections.ts';
import type { collectionRoutes as routes } from '../schemas/collections.ts';

type CollectionHandlers = { readonly [K in keyof typeof routes]: Handler<(typeof routes)[K]> };

export interface CollectionHandlerParts {
  readonly collections: Pick<
    Collections,
    'create' | 'list' | 'read' | 'delete' | 'upsert' | 'deleteDocument' | 'documents' | 'search'
  >;
}

/** The edge of the collections. */
export function collectionHandlers({ collections }: CollectionHandlerParts): CollectionHandlers {
  const store = async ({ params, body, identity, signal, span: parent }: StoreCall) => {
    // What the schema let through, with exact optional fields.
    const documents = body.documents as readonly NewDocument[];
    for (const { metadata = {} } of documents) requireKeepable(metadata, 'metadata');
    const author = authorOf(identity);
    const { ids, chunks } = await collections.upsert(params.name, {
      documents,
      author,
      signal,
      parent,
    });
    return { ids: [...ids], chunks };
  };
  return {
    createCollection: async ({ body, identity }) =>
      shown(await collections.create(body, authorOf(identity))),
    listCollections: async ({ query }) => {
      const { collections: found, total } = await collections.list(query);
      return { collections: found.map(shown), total, ...query };
    },
    readCollection: async ({ params }) => shown(await collections.read(params.name)),
    deleteCollection: async ({ params, identity }) => {
      const { id, name } = await collections.delete(params.name, authorOf(identity));
      return { id, name, deleted: true };
    },
    putDocuments: store,
    postDocuments: store,
    listDocuments: async ({ params, query }) => {
      const { documents, total } = await collections.documents(params.name, query);
      const shownDocuments = documents.map((document) => ({ ...document, ...timesOf(document) }));
      return { documents: shownDocuments, total, ...query };
    },
    deleteDocument: async ({ params, identity }) => {
      await collections.deleteDocument(params.name, params.documentId, authorOf(identity));
      return { id: params.documentId, deleted: true };
    },
    searchCollection: async ({ params, body, signal, span: parent }) => {
      const { query, limit = 10, minScore } = body;
      // An object of JSON, as the schema says.
      const filter = body.filter as Metadata | undefined;
      if (filter) requireKeepable(filter, 'filter');
      const results = await collections.search(params.name, {
        query,
        limit,
        ...(minScore !== undefined && { minScore }),
        ...(filter && { filter }),
        signal,
        parent,
      });
      return { results: [...results], count: results.length };
    },
  };
}

type StoreCall = Call<(typeof routes)['putDocuments']>;

function authorOf({ subject, permissions }: Identity): Author {
  return { subject, isAdministrator: allows(permissions, 'workflow:admin') };
}

/** Metadata in one document. */
const metadataLengthMax = 64 * 1024;
/** A null character or half a surrogate pair as JSON writes it, with no escaped backslash before. */
const unkeepable = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/;

/** Throws `invalid` for JSON that PostgreSQL cannot keep. */
function requireKeepable(metadata: Metadata, param: string): void {
  const text = JSON.stringify(metadata);
  if (text.length > metadataLengthMax || unkeepable.test(text)) {
    throw new Fault('invalid', `${param} must be at most 64 KiB of JSON without null characters`, {
      reason: 'validation_error',
      detail: { param },
    });
  }
}

function shown(collection: CountedCollection) {
  const { id, name, description, documents, chunks, ownerId, embedding, wantedModel } = collection;
  const model = embedding?.model ?? wantedModel;
  return {
    id,
    name,
    description,
    ...(model !== undefined && { model }),
    ...(embedding && { dimensions: embedding.dimensions }),
    documents,
    chunks,
    ownerId,
    ...timesOf(collection),
  };
}

function timesOf({ createdAt, updatedAt }: { readonly createdAt: Date; readonly updatedAt: Date }) {
  return { createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() };
}
