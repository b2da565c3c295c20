/** The nine by name, in the order of their ports: for who must not load them to know where they are. */
export const serviceNames = [
  'mesh',
  'auth',
  'gateway',
  'chat',
  'registry',
  'tracer',
  'workflow',
  'models',
  'studio',
] as const;
