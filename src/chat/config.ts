import { Type } from 'typebox';
import { setting, type ConfigOf, type Settings } from '../kit/config.ts';
import { nodeEnvironment } from '../kit/production.ts';

/** The environment of chat. */
export const chatSettings = {
  nodeEnvironment,
  introspection: setting(
    'CHAT_GRAPHQL_INTROSPECTION',
    Type.Enum(['open', 'permission']),
    'who may ask GraphQL for its schema: with `open` everybody with a token, with `permission` holders of `chat:admin`; when absent, `permission` in production',
  ),
  embeddingModel: setting(
    'CHAT_EMBEDDING_MODEL',
    Type.String({ minLength: 1, maxLength: 256 }),
    'the model of the models service by which messages are searched; absent: the one that comes with it',
  ),
} satisfies Settings;

export type ChatConfig = ConfigOf<typeof chatSettings>;
