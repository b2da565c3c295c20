import { pathsOf, type Contract } from '../../kit/contract.ts';

/** Something that users can do with chat. */
interface Feature {
  readonly name: string;
  /** The method and path by which it is done. */
  readonly route: string;
  /** The service without which it cannot be done; absent where chat and its database are enough. */
  readonly needs?: string;
}

const features: readonly Feature[] = [
  { name: 'completions', route: 'POST /api/chat/completions', needs: 'gateway' },
  { name: 'streaming', route: 'POST /api/chat/stream', needs: 'gateway' },
  { name: 'models', route: 'GET /api/models', needs: 'gateway' },
  { name: 'conversations', route: 'GET /api/conversations' },
  { name: 'sessions', route: 'POST /api/session' },
  { name: 'search', route: 'POST /api/search' },
  { name: 'tools', route: 'GET /api/tools', needs: 'registry' },
  { name: 'orchestration', route: 'POST /api/agents/orchestrate', needs: 'mesh' },
  { name: 'voice-commands', route: 'POST /api/voice/command' },
  { name: 'graphql', route: 'POST /graphql' },
  { name: 'suite-control', route: 'GET /api/cli/status' },
];

/** What stands in `endpoints` of the info, by the name of its area. */
const areas: Readonly<Record<string, string>> = {
  health: 'GET /health',
  chat: 'POST /api/chat/completions',
  stream: 'POST /api/chat/stream',
  conversations: 'GET /api/conversations',
  search: 'POST /api/search',
  agents: 'POST /api/agents/orchestrate',
  models: 'GET /api/models',
  tools: 'GET /api/tools',
  voice: 'POST /api/voice/command',
  graphql: 'POST /graphql',
  suite: 'GET /api/cli/status',
  metrics: 'GET /metrics',
};

/** What a contract's routes let users do. */
export function featuresOf(contract: Contract): readonly Feature[] {
  const served = routesOf(contract);
  return features.filter(({ route }) => served.has(route));
}

/** The paths of the areas that a contract's routes serve. */
export function endpointsOf(contract: Contract): Record<string, string> {
  const served = routesOf(contract);
  const found = Object.entries(areas).filter(([, route]) => served.has(route));
  return Object.fromEntries(found.map(([area, route]) => [area, route.slice(route.indexOf('/'))]));
}

function routesOf({ routes }: Contract): ReadonlySet<string> {
  return new Set(
    Object.values(routes).flatMap((route) =>
      pathsOf(route).map((path) => `${route.method} ${path}`),
    ),
  );
}
