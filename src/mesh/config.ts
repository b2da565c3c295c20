import { Type } from 'typebox';
import { settingOr, type ConfigOf, type Settings } from '../kit/config.ts';

/** The environment of the mesh. */
export const meshSettings = {
  heartbeatSeconds: settingOr(
    'MESH_HEARTBEAT_SECONDS',
    { schema: Type.Integer({ minimum: 1, maximum: 3_600 }), or: 30 },
    'seconds between two heartbeats of an agent that wishes for no other time; after three missed ones it is suspect',
  ),
  agentsMax: settingOr(
    'MESH_AGENTS_MAX',
    { schema: Type.Integer({ minimum: 1, maximum: 1_000_000 }), or: 100_000 },
    'agents that may be registered',
  ),
  hasAssistant: settingOr(
    'MESH_ASSISTANT',
    { schema: Type.Enum(['on', 'off']), or: 'on' },
    'whether the agent `assistant-1` works here, which answers through the gateway',
  ),
} satisfies Settings;

export type MeshConfig = ConfigOf<typeof meshSettings>;
