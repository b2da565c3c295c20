import { Type } from 'typebox';
import { setting, settingOr, type ConfigOf, type Settings } from '../kit/config.ts';

/** The environment of chat. */
export const chatSettings = {
  introspection: settingOr(
    'CHAT_GRAPHQL_INTROSPECTION',
    { schema: Type.Enum(['open', 'permission']), or: 'open' },
    'who may ask GraphQL for its schema: everybody with a token, or with `permission` holders of `chat:admin`',
  ),
  embeddingModel: setting(
    'CHAT_EMBEDDING_MODEL',
    Type.String({ minLength: 1, maxLength: 256 }),
    'the model of the models service by which messages are searched; absent: the one that comes with it',
  ),
} satisfies Settings;

export type ChatConfig = ConfigOf<typeof chatSettings>;
