import type { Contract } from '../kit/contract.ts';
import { chatEnvelope } from './envelope.ts';
import { channelSockets } from './schemas/channel.ts';
import { conversationRoutes } from './schemas/conversations.ts';
import { graphqlRoutes } from './schemas/graphql.ts';
import { modelRoutes } from './schemas/models.ts';
import { orchestrationRoutes } from './schemas/orchestrations.ts';
import { searchRoutes } from './schemas/search.ts';
import { sessionRoutes } from './schemas/session.ts';
import { suiteRoutes } from './schemas/suite.ts';
import { toolRoutes } from './schemas/tools.ts';
import { turnRoutes } from './schemas/turns.ts';
import { voiceRoutes } from './schemas/voice.ts';

/** What others may know of chat. */
export const chatContract = {
  name: 'chat',
  title: 'Ennead Chat',
  version: '0.1.0',
  description: 'Conversations over REST, sockets and GraphQL.',
  error: chatEnvelope.schema,
  acceptsSessionCookie: true,
  routes: {
    ...suiteRoutes,
    ...sessionRoutes,
    ...turnRoutes,
    ...conversationRoutes,
    ...toolRoutes,
    ...modelRoutes,
    ...searchRoutes,
    ...orchestrationRoutes,
    ...voiceRoutes,
    ...graphqlRoutes,
  },
  sockets: channelSockets,
} as const satisfies Contract;
