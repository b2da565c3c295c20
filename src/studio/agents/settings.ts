import { Type } from 'typebox';
import { setting, settingOr, type Settings } from '../../kit/config.ts';

/** The environment of the agents. */
export const agentSettings = {
  agentsMax: settingOr(
    'STUDIO_AGENTS_MAX',
    { schema: Type.Integer({ minimum: 1, maximum: 100_000 }), or: 64 },
    'agents that may run at a time, on all replicas',
  ),
  ownerAgentsMax: settingOr(
    'STUDIO_AGENTS_PER_OWNER_MAX',
    { schema: Type.Integer({ minimum: 1, maximum: 100_000 }), or: 16 },
    'agents of one owner that may run at a time',
  ),
  agentCpuMax: settingOr(
    'STUDIO_AGENT_CPU_MAX',
    { schema: Type.Number({ minimum: 0.01, maximum: 1_024 }), or: 4 },
    'cores that an agent may ask for',
  ),
  agentMemoryMax: settingOr(
    'STUDIO_AGENT_MEMORY_MAX',
    { schema: Type.Integer({ minimum: 2 ** 26, maximum: 2 ** 50 }), or: 4 * 2 ** 30 },
    'bytes of memory that an agent may ask for',
  ),
  agentTtlSecondsMax: setting(
    'STUDIO_AGENT_TTL_MAX_SECONDS',
    Type.Integer({ minimum: 1, maximum: 315_360_000 }),
    'seconds that an agent may live, also one that asks for no end; for ever when absent',
  ),
  agentStartSeconds: settingOr(
    'STUDIO_AGENT_START_SECONDS',
    { schema: Type.Integer({ minimum: 1, maximum: 3_600 }), or: 25 },
    'seconds within which the mesh must have heard an agent that was started',
  ),
  agentStopSeconds: settingOr(
    'STUDIO_AGENT_STOP_SECONDS',
    { schema: Type.Integer({ minimum: 0, maximum: 600 }), or: 10 },
    'seconds that an agent has to end before it is killed; three when the studio itself stops',
  ),
  agentHeartbeatSeconds: settingOr(
    'STUDIO_AGENT_HEARTBEAT_SECONDS',
    { schema: Type.Integer({ minimum: 1, maximum: 3_600 }), or: 10 },
    'how often agents must beat at the mesh',
  ),
  warmAgents: settingOr(
    'STUDIO_WARM_AGENTS',
    { schema: Type.Integer({ minimum: 0, maximum: 64 }), or: 0 },
    'local agents that are kept started for each template, so that a spawn takes a moment',
  ),
} satisfies Settings;
