import type { Contract } from '../kit/contract.ts';
import { meshEnvelope } from './envelope.ts';
import { a2aRoutes } from './schemas/a2a.ts';
import { activityRoutes, activitySockets } from './schemas/activity.ts';
import { agentRoutes } from './schemas/agents.ts';
import { attestationRoutes } from './schemas/attestation.ts';
import { certificateRoutes } from './schemas/certificates.ts';
import { swarmRoutes } from './schemas/swarms.ts';
import { taskRoutes } from './schemas/tasks.ts';

/** What others may know of the mesh. */
export const meshContract = {
  name: 'mesh',
  title: 'Ennead Mesh',
  version: '1.0.0',
  description: 'Agents that find one another, work for one another and decide together.',
  error: meshEnvelope.schema,
  routes: {
    ...agentRoutes,
    ...taskRoutes,
    ...swarmRoutes,
    ...attestationRoutes,
    ...certificateRoutes,
    ...a2aRoutes,
    ...activityRoutes,
  },
  sockets: activitySockets,
} as const satisfies Contract;
