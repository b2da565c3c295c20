import { useQueries } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useAnswer } from '../api/answers.ts';
import { call } from '../api/call.ts';
import { Badge } from '../ui/badge.tsx';

const agentsMax = 1_000;
const refreshMs = 15_000;

/** The agents with a valid attestation of anything they can do; undefined until it is known. */
export function useAttestedAgents(): ReadonlySet<string> | undefined {
  const { data } = useAnswer('mesh', 'POST /api/v1/agents/discover', {
    body: { filters: { attested: true }, limit: agentsMax },
    everyMs: refreshMs,
  });
  return data && new Set(data.agents.map(({ agentId }) => agentId));
}

/** Of an agent's capabilities those that it has valid attestations of; undefined until all are known. */
export function useAttestedCapabilities(
  agentId: string,
  capabilities: readonly string[],
): ReadonlySet<string> | undefined {
  const answers = useQueries({
    queries: capabilities.map((capability) => ({
      queryKey: ['mesh', 'attested', agentId, capability],
      queryFn: () => isAttested(agentId, capability),
      staleTime: refreshMs,
    })),
  });
  if (answers.some(({ data }) => data === undefined)) return undefined;
  return new Set(capabilities.filter((_, index) => answers[index]?.data));
}

async function isAttested(agentId: string, capability: string): Promise<boolean> {
  const body = { capabilities: [capability], filters: { attested: true }, limit: agentsMax };
  const { agents } = await call('mesh', 'POST /api/v1/agents/discover', { body });
  return agents.some((agent) => agent.agentId === agentId);
}

/** Whether an agent has proved anything; one without a key cannot. */
export function Attested({
  hasKey,
  isAttested: isProved,
}: {
  readonly hasKey: boolean;
  readonly isAttested: boolean | undefined;
}): ReactNode {
  if (isProved) return <Badge state="attested" tone="good" />;
  return <span className="faint">{hasKey ? 'not yet' : 'no key'}</span>;
}
