import { Type } from 'typebox';
import type { Route } from '../../kit/contract.ts';
import { pageAnswer, pageQuery } from '../../kit/paging.ts';
import { mayCreate, mayRead } from './access.ts';

const path = '/api/v1/collections';
const documentsMax = 500;
const bodyBytesMax = 16 * 1024 * 1024;

const collectionName = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$',
  description: 'letters, digits, dots, underscores and hyphens, up to 128',
});
/** What PostgreSQL keeps as text. */
const keepable = '^[^\\u0000\\ud800-\\udfff]*$';
const documentId = Type.String({
  minLength: 1,
  maxLength: 256,
  pattern: '^[^\\u0000-\\u001f\\u007f\\ud800-\\udfff]+$',
  description: 'text without control characters',
});
const metadata = Type.Object({}, { additionalProperties: true });
const timestamp = Type.String({ format: 'date-time' });
const named = Type.Object({ name: collectionName });
const page = Type.Object(pageQuery());

const collection = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    description: Type.String(),
    model: Type.Optional(
      Type.String({ description: 'what embeds; absent until the first document is stored' }),
    ),
    dimensions: Type.Optional(Type.Integer()),
    documents: Type.Integer(),
    chunks: Type.Integer({ description: 'parts of documents, each with a vector' }),
    ownerId: Type.String(),
    createdAt: timestamp,
    updatedAt: timestamp,
  },
  { $id: 'Collection' },
);

const newDocument = Type.Object(
  {
    id: Type.Optional(Type.Union([documentId], { description: 'a new one when absent' })),
    content: Type.String({
      minLength: 1,
      maxLength: 4_000_000,
      pattern: keepable,
      description: 'text without null characters',
    }),
    metadata: Type.Optional(metadata),
  },
  { $id: 'NewDocument' },
);

const upsertBody = Type.Object({
  documents: Type.Array(newDocument, { minItems: 1, maxItems: documentsMax }),
});
const upserted = Type.Object({
  ids: Type.Array(Type.String(), { description: 'in the order given' }),
  chunks: Type.Integer({ description: 'vectors that were stored' }),
});

const storeDocuments = {
  url: `${path}/:name/documents`,
  summary: 'Store documents in a collection, in the place of those with the same ids',
  description:
    'All or none. Long documents are cut into overlapping parts of at most 2,000 characters, each with a vector of its own. 503: the texts could not be embedded, and nothing was stored.',
  permission: mayCreate,
  bodyBytesMax,
  schema: { params: named, body: upsertBody, response: { 200: upserted } },
} as const;

/** Collections of texts that are found by meaning. */
export const collectionRoutes = {
  createCollection: {
    method: 'POST',
    url: path,
    summary: 'Create a collection of texts that are found by meaning',
    description: 'Its owner and whoever holds `workflow:admin` change it; all who read search it.',
    permission: mayCreate,
    schema: {
      body: Type.Object({
        name: collectionName,
        description: Type.Optional(Type.String({ maxLength: 2_000, pattern: keepable })),
        model: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 256,
            description: 'of the models service; the embedder that comes with it when absent',
          }),
        ),
      }),
      response: { 201: collection },
    },
  },
  listCollections: {
    method: 'GET',
    url: path,
    summary: 'List the collections by name',
    permission: mayRead,
    schema: {
      query: page,
      response: {
        200: Type.Object({
          collections: Type.Array(collection),
          ...pageAnswer,
        }),
      },
    },
  },
  readCollection: {
    method: 'GET',
    url: `${path}/:name`,
    summary: 'Read a collection, by its name or id',
    permission: mayRead,
    schema: { params: named, response: { 200: collection } },
  },
  deleteCollection: {
    method: 'DELETE',
    url: `${path}/:name`,
    summary: 'Delete a collection with its documents, by its name or id',
    permission: mayCreate,
    schema: {
      params: named,
      response: {
        200: Type.Object({
          id: Type.String(),
          name: Type.String(),
          deleted: Type.Literal(true),
        }),
      },
    },
  },
  putDocuments: { method: 'PUT', ...storeDocuments },
  postDocuments: { method: 'POST', ...storeDocuments },
  listDocuments: {
    method: 'GET',
    url: `${path}/:name/documents`,
    summary: 'List the documents of a collection by id',
    permission: mayRead,
    schema: {
      params: named,
      query: page,
      response: {
        200: Type.Object({
          documents: Type.Array(
            Type.Object({
              id: Type.String(),
              content: Type.String(),
              metadata,
              chunks: Type.Integer(),
              createdAt: timestamp,
              updatedAt: timestamp,
            }),
          ),
          ...pageAnswer,
        }),
      },
    },
  },
  deleteDocument: {
    method: 'DELETE',
    url: `${path}/:name/documents/:documentId`,
    summary: 'Delete a document',
    permission: mayCreate,
    schema: {
      params: Type.Object({ name: collectionName, documentId }),
      response: { 200: Type.Object({ id: Type.String(), deleted: Type.Literal(true) }) },
    },
  },
  searchCollection: {
    method: 'POST',
    url: `${path}/:name/search`,
    summary: 'Find the documents of a collection that are closest to a text in meaning',
    permission: mayRead,
    schema: {
      params: named,
      body: Type.Object({
        query: Type.String({ minLength: 1, maxLength: 100_000 }),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 10 })),
        minScore: Type.Optional(Type.Number({ minimum: -1, maximum: 1 })),
        filter: Type.Optional(
          Type.Object(
            {},
            {
              additionalProperties: true,
              description: 'fields that the metadata must have, with these values',
            },
          ),
        ),
      }),
      response: {
        200: Type.Object({
          results: Type.Array(
            Type.Object({
              id: Type.String(),
              content: Type.String({ description: 'the part that is closest' }),
              score: Type.Number({ description: 'cosine: 1 the same, 0 unrelated' }),
              metadata,
            }),
          ),
          count: Type.Integer(),
        }),
      },
    },
  },
} as const satisfies Readonly<Record<string, Route>>;
