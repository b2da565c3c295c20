import { Type } from 'typebox';
import type { Route } from '../../kit/contract.ts';
import { chatEnvelope } from '../envelope.ts';

const bodyBytesMax = 4 * 1024 * 1024;
/** Operations of one request. */
const batchMax = 5;

const JsonObject = Type.Object({}, { additionalProperties: true });

const OperationSchema = Type.Object(
  {
    query: Type.String({ description: 'the document, at most 2,000 tokens' }),
    operationName: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    variables: Type.Optional(Type.Union([JsonObject, Type.Null()])),
    extensions: Type.Optional(Type.Union([JsonObject, Type.Null()])),
  },
  { additionalProperties: true },
);

const ResultSchema = Type.Object(
  {
    data: Type.Optional(Type.Union([JsonObject, Type.Null()])),
    errors: Type.Optional(
      Type.Array(
        Type.Object(
          {
            message: Type.String(),
            extensions: Type.Optional(
              Type.Object(
                { code: Type.String({ description: 'upper snake case, as in refusals' }) },
                { additionalProperties: true },
              ),
            ),
          },
          { additionalProperties: true },
        ),
      ),
    ),
  },
  { additionalProperties: true },
);

const ResultsSchema = Type.Union([
  ResultSchema,
  Type.Array(ResultSchema, { maxItems: batchMax, description: 'of a list of operations' }),
]);

/** Of a document that was not run, in GraphQL's words; of a request that holds none, in those of REST. */
const RefusedSchema = Type.Union([ResultsSchema, chatEnvelope.schema], {
  description: 'Refusal: `errors` where the document was not run',
});
const refused = { 400: RefusedSchema, 403: RefusedSchema, 500: RefusedSchema };

const description =
  `The schema is \`gen/graphql/chat.graphql\`. With \`Accept: text/event-stream\` the
answer comes as server-sent events \`next\` and \`complete\`, which is how subscriptions are answered here.
WebSockets at the same path speak \`graphql-transport-ws\`: the token stands in \`connectionParams\`
(\`authorization\` or \`token\`), else in the handshake. A document that cannot be run is refused with its status
and \`errors\`, whatever is accepted; what fails while it runs stands in an answer with 200. With
\`Accept: application/graphql-response+json\` the bodies have that media type.`.replaceAll(
    '\n',
    ' ',
  );

/** GraphQL over HTTP. */
export const graphqlRoutes = {
  graphql: {
    method: 'POST',
    url: '/graphql',
    summary: 'Run GraphQL operations',
    description,
    bodyBytesMax,
    schema: {
      body: Type.Union([
        OperationSchema,
        Type.Array(OperationSchema, { minItems: 1, maxItems: batchMax }),
      ]),
      response: { 200: ResultsSchema, ...refused },
    },
  },
  graphqlQuery: {
    method: 'GET',
    url: '/graphql',
    summary: 'Run a GraphQL query or subscription',
    description: 'As with POST; a mutation is refused.',
    schema: {
      query: Type.Object({
        query: Type.String({ maxLength: 16_384, description: 'the document' }),
        operationName: Type.Optional(
          Type.String({ maxLength: 256, description: 'which of its operations' }),
        ),
        variables: Type.Optional(Type.String({ description: 'a JSON object' })),
        extensions: Type.Optional(Type.String({ description: 'a JSON object' })),
      }),
      response: { 200: ResultSchema, ...refused },
    },
  },
} as const satisfies Record<string, Route>;
