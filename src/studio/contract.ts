import { healthRoute, type Contract } from '../kit/contract.ts';
import { plainEnvelope } from '../kit/envelope.ts';
import { agentRoutes } from './schemas/agents.ts';
import { fileRoutes } from './schemas/files.ts';
import { sessionRoutes } from './schemas/session.ts';
import { syncRoutes, syncSockets } from './schemas/sync.ts';
import { taskRoutes } from './schemas/tasks.ts';
import { workspaceRoutes } from './schemas/workspaces.ts';

/** What others may know of studio. */
export const studioContract = {
  name: 'studio',
  title: 'Ennead Studio',
  version: '1.0.0',
  description:
    'Workspaces, their files in step on every device, agents that work in them, and their tasks.',
  error: plainEnvelope.schema,
  acceptsSessionCookie: true,
  routes: {
    health: healthRoute('/health', {}),
    ...sessionRoutes,
    ...workspaceRoutes,
    ...fileRoutes,
    ...syncRoutes,
    ...agentRoutes,
    ...taskRoutes,
  },
  sockets: syncSockets,
} as const satisfies Contract;
