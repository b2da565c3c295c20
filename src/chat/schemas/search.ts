import { Type } from 'typebox';
import type { Route } from '../../kit/contract.ts';
import { askedTime } from '../../kit/time/asked-time.ts';

/** Of what is searched for, by whichever way. */
export const queryLengthMax = 16_384;

const time = Type.String({ format: 'date-time' });
const result = Type.Object(
  {
    id: Type.String({ description: "the message's" }),
    content: Type.String({
      description: "the message's text, or the part of a long one around what matched",
    }),
    score: Type.Number({
      description:
        '0..1, with the same meaning whatever embeds: how likely the message is what was asked for',
    }),
    conversation_id: Type.String(),
    timestamp: time,
    metadata: Type.Object({
      role: Type.String(),
      title: Type.String({ description: "the conversation's" }),
      snippet: Type.String({
        description: 'HTML: with `<mark>` around what matched, all else escaped',
      }),
      embedder: Type.String({
        description: 'what the score rests on; `text` while the message has no vector',
      }),
      model: Type.Optional(Type.String({ description: 'what wrote the message' })),
    }),
  },
  { $id: 'SearchResult' },
);

/** Search in one's own messages. */
export const searchRoutes = {
  search: {
    method: 'POST',
    url: '/api/search',
    summary: 'Search your messages by words and by meaning',
    description:
      'Words need not be the same: messages that mean something close are found too, by words alone while nothing embeds. `"…"` must be in the text as it stands, a word behind `-` must not; up to 32 of both, of 2,000 characters together.',
    schema: {
      body: Type.Object({
        query: Type.String({ minLength: 1, maxLength: queryLengthMax }),
        limit: Type.Optional(
          Type.Integer({ minimum: 1, maximum: 100, description: '10 when absent' }),
        ),
        min_score: Type.Optional(
          Type.Number({ minimum: 0, maximum: 1, description: '0.02 when absent' }),
        ),
        filters: Type.Optional(
          Type.Object({
            user_id: Type.Optional(
              Type.String({
                minLength: 1,
                maxLength: 256,
                description: "whose messages; somebody else's need `chat:admin`",
              }),
            ),
            date_range: Type.Optional(
              Type.Object({
                start: Type.Optional(askedTime),
                end: Type.Optional(askedTime),
              }),
            ),
          }),
        ),
      }),
      response: {
        200: Type.Object({
          results: Type.Array(result, { description: 'the best first' }),
          total: Type.Integer({ description: 'of all results with the score or a better one' }),
          total_is_exact: Type.Boolean({
            description: 'false when there may be more than `total`',
          }),
          query_time_ms: Type.Number({ description: 'measured' }),
        }),
      },
    },
  },
} as const satisfies Record<string, Route>;
