import type { Answer } from '../api/contracts.ts';

export type Swarm = Answer<'mesh', 'GET /api/v1/swarms/:swarmId/status'>;
