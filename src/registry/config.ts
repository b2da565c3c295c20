import { Type } from 'typebox';
import { setting, settingOr, type ConfigOf, type Settings } from '../kit/config.ts';
import { processSettings } from './processes/settings.ts';

/** The environment of the registry. */
export const registrySettings = {
  ...processSettings,
  connectionsMax: settingOr(
    'REGISTRY_CONNECTIONS_MAX',
    { schema: Type.Integer({ minimum: 1, maximum: 1_000_000 }), or: 20_000 },
    'connections that may be registered, those that are disconnected not counted',
  ),
  idleAfterSeconds: settingOr(
    'REGISTRY_IDLE_AFTER_SECONDS',
    { schema: Type.Integer({ minimum: 1, maximum: 86_400 }), or: 300 },
    'seconds without a request after which a connection is idle',
  ),
  linkIdleSeconds: settingOr(
    'REGISTRY_LINK_IDLE_SECONDS',
    { schema: Type.Integer({ minimum: 1, maximum: 86_400 }), or: 600 },
    'seconds without an exchange after which the link to a server, or its process, is ended',
  ),
  healthConcurrency: settingOr(
    'REGISTRY_HEALTH_CONCURRENCY',
    { schema: Type.Integer({ minimum: 1, maximum: 1_000 }), or: 16 },
    'health checks that run at the same time on schedule',
  ),
  quarantine: settingOr(
    'REGISTRY_QUARANTINE',
    { schema: Type.Enum(['off', 'on']), or: 'off' },
    'whether tools that changed or came since a server was first seen are kept from being called until somebody accepts them',
  ),
  relearnSeconds: settingOr(
    'REGISTRY_RELEARN_SECONDS',
    { schema: Type.Integer({ minimum: 1, maximum: 86_400 }), or: 60 },
    'seconds after which a server that answers a health check is asked again what tools it has',
  ),
  cmsAllow: setting(
    'REGISTRY_CMS_ALLOW',
    Type.String(),
    'addresses of content-management systems that connections may be exchanged with, separated by commas; none unless set',
  ),
} satisfies Settings;

export type RegistryConfig = ConfigOf<typeof registrySettings>;
