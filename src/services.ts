import { auth } from './auth/service.ts';
import { chat } from './chat/service.ts';
import { gateway } from './gateway/service.ts';
import type { Service } from './kit/service.ts';
import { mesh } from './mesh/service.ts';
import { models } from './models/service.ts';
import { registry } from './registry/service.ts';
import { studio } from './studio/service.ts';
import { tracer } from './tracer/service.ts';
import { workflow } from './workflow/service.ts';

/** The nine, in the order of their ports: the first listens on the base port plus one. */
export const services: readonly Service[] = [
  mesh,
  auth,
  gateway,
  chat,
  registry,
  tracer,
  workflow,
  models,
  studio,
];

/** The order in which they start: who is called by others comes before them. Stopping is the reverse. */
export const startOrder: readonly Service[] = [
  auth,
  tracer,
  models,
  registry,
  gateway,
  mesh,
  workflow,
  chat,
  studio,
];

/** The service that signs tokens. */
export const issuer = auth;

/** Those that stay up while the others are stopped: who stops the others, and who says that they may. */
export const lasting: readonly Service[] = [auth, chat];

/** The service that takes spans. */
export const spanReceiver = tracer;
