import type { Contract } from '../kit/contract.ts';
import { mcpEnvelope } from '../kit/mcp/mcp-envelope.ts';
import { batchRoutes, batchSockets } from './schemas/batches.ts';
import { collectionRoutes } from './schemas/collections.ts';
import { componentRoutes } from './schemas/components.ts';
import { executionRoutes, executionSockets } from './schemas/executions.ts';
import { flowTestRoutes } from './schemas/flow-tests.ts';
import { healthRoutes } from './schemas/health.ts';
import { interopRoutes } from './schemas/interop.ts';
import { startRoutes } from './schemas/starts.ts';
import { triggerRoutes } from './schemas/triggers.ts';
import { workflowRoutes } from './schemas/workflows.ts';

/** What others may know of workflow. */
export const workflowContract = {
  name: 'workflow',
  title: 'Ennead Workflow',
  version: '0.1.0',
  description: 'Visual workflows that survive crashes.',
  error: mcpEnvelope.schema,
  routes: {
    ...healthRoutes,
    ...workflowRoutes,
    ...startRoutes,
    ...flowTestRoutes,
    ...executionRoutes,
    ...batchRoutes,
    ...triggerRoutes,
    ...componentRoutes,
    ...collectionRoutes,
    ...interopRoutes,
  },
  sockets: { ...executionSockets, ...batchSockets },
} as const satisfies Contract;
