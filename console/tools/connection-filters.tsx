import type { ReactNode } from 'react';
import type { InputOf } from '../api/contracts.ts';

/** What a list of connections is narrowed to; an empty text is no filter. */
export interface Filters {
  readonly status: string;
  readonly protocol: string;
  readonly capability: string;
  readonly name: string;
}

export const noFilters: Filters = { status: '', protocol: '', capability: '', name: '' };

type Query = NonNullable<InputOf<'registry', 'GET /connections'>['query']>;

const statuses = ['active', 'idle', 'error', 'disconnected'] as const;
const protocols = ['stdio', 'http', 'websocket'] as const;

/** Filters as the registry takes them. */
export function queryOf({ status, protocol, capability, name }: Filters): Query {
  const knownStatus = statuses.find((known) => known === status);
  const knownProtocol = protocols.find((known) => known === protocol);
  return {
    ...(knownStatus ? { status: knownStatus } : {}),
    ...(knownProtocol ? { protocol: knownProtocol } : {}),
    ...(capability.trim() ? { capability: capability.trim() } : {}),
    ...(name.trim() ? { name: name.trim() } : {}),
  };
}

export interface ConnectionFiltersProps {
  readonly filters: Filters;
  readonly onChange: (filters: Filters) => void;
}

/** Narrows a list of connections. */
export function ConnectionFilters({ filters, onChange }: ConnectionFiltersProps): ReactNode {
  const set = (part: Partial<Filters>) => onChange({ ...filters, ...part });
  return (
    <search className="filters">
      <input
        aria-label="Name"
        placeholder="Exact name"
        value={filters.name}
        onChange={({ target }) => set({ name: target.value })}
      />
      <input
        aria-label="Capability"
        placeholder="Capability or tool"
        value={filters.capability}
        onChange={({ target }) => set({ capability: target.value })}
      />
      <select
        aria-label="Status"
        value={filters.status}
        onChange={({ target }) => set({ status: target.value })}
      >
        <option value="">any status</option>
        {statuses.map((status) => (
          <option key={status}>{status}</option>
        ))}
      </select>
      <select
        aria-label="Protocol"
        value={filters.protocol}
        onChange={({ target }) => set({ protocol: target.value })}
      >
        <option value="">any protocol</option>
        {protocols.map((protocol) => (
          <option key={protocol}>{protocol}</option>
        ))}
      </select>
      {filters === noFilters ? null : (
        <button type="button" onClick={() => onChange(noFilters)}>
          Clear
        </button>
      )}
    </search>
  );
}
