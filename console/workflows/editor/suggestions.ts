import { useQuery } from '@tanstack/react-query';
import { call } from '../../api/call.ts';

/** What a setting may be set to, as it is now. */
export interface Suggestion {
  readonly value: string;
  /** What people call it, where that is something else. */
  readonly title?: string;
}

const limit = 100;

/** Where the names come from that some settings ask for. */
const sources: Readonly<Record<string, () => Promise<readonly Suggestion[]>>> = {
  'SubWorkflow.workflowId': async () => {
    const query = { limit, status: 'active' as const };
    const { workflows } = await call('workflow', 'GET /api/v1/workflows', { query });
    return workflows.map(({ id, name }) => ({ value: id, title: name }));
  },
  'VectorSearch.collection': async () => {
    const { collections } = await call('workflow', 'GET /api/v1/collections', { query: { limit } });
    return collections.map(({ name }) => ({ value: name }));
  },
  'LLMNode.model': async () => {
    const { data } = await call('gateway', 'GET /api/v1/models');
    return data.map(({ id }) => ({ value: id }));
  },
  'AgentTask.agent': async () => {
    const { agents } = await call('mesh', 'GET /api/v1/agents');
    return agents.map(({ agentId }) => ({ value: agentId }));
  },
};

/** Suggestions for a setting of a component; none where there are none, or they cannot be read. */
export function useSuggestions(component: string, setting: string): readonly Suggestion[] {
  const read = sources[`${component}.${setting}`];
  const { data = [] } = useQuery({
    queryKey: ['suggestions', component, setting],
    queryFn: async () => (await read?.()) ?? [],
    enabled: read !== undefined,
    staleTime: 60_000,
  });
  return data;
}
