import { Type } from 'typebox';

/** What a whole execution may use. */
export const budgetFields = {
  maxTokens: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000_000 })),
  maxCost: Type.Optional(
    Type.Number({ exclusiveMinimum: 0, maximum: 1_000_000, description: 'US dollars' }),
  ),
};
