/** How many agents there are to be found. */
export const agentCount = 10_000;

const capabilityCount = 100;
const regions = ['eu', 'us', 'asia'] as const;

/** What is asked for when agents are looked for; each is had by 300 agents. */
export const capabilityNames: readonly string[] = Array.from(
  { length: capabilityCount },
  (_, at) => `capability-${at}`,
);

/** The body of a registration; those of different numbers differ in what their agents can do. */
export function registrationOf(agentId: string, at: number) {
  const capabilities = [0, 1, 2].map(
    (step) => `capability-${(at * 7 + step * 31) % capabilityCount}`,
  );
  return {
    agentId,
    capabilities,
    metadata: { region: regions[at % regions.length], version: '1.0.0' },
    endpoints: { rest: `http://127.0.0.1:${10_000 + (at % 50_000)}` },
  };
}

/** The query of a discovery whose turn it is: the ten best with a capability. */
export function queryOf(turn: number) {
  return { capabilities: [`capability-${turn % capabilityCount}`], limit: 10 };
}
