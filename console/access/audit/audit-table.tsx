import type { ReactNode } from 'react';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { JsonView } from '../../ui/json-view.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import type { AuditEvent } from '../answers.ts';

export interface AuditTableProps {
  readonly events: readonly AuditEvent[];
  /** Shows only events of a type, or of a user. */
  readonly onType: (eventType: string) => void;
  readonly onUser: (userId: string) => void;
}

/** Events of the audit log. */
export function AuditTable({ events, onType, onUser }: AuditTableProps): ReactNode {
  const rows = events.map((event, at) => ({ ...event, key: `${at} ${event.timestamp}` }));
  return <Table columns={columnsFor(onType, onUser)} rows={rows} keyOf={({ key }) => key} />;
}

function columnsFor(
  onType: (eventType: string) => void,
  onUser: (userId: string) => void,
): readonly Column<AuditEvent>[] {
  return [
    {
      title: 'When',
      cell: ({ timestamp }) => (
        <time className="audit-time" dateTime={timestamp}>
          {new Date(timestamp).toLocaleString()}
        </time>
      ),
    },
    {
      title: 'Event',
      cell: ({ eventType }) => (
        <button type="button" className="quiet as-text" onClick={() => onType(eventType)}>
          <Badge state={eventType} tone={toneOf(eventType)} />
        </button>
      ),
    },
    {
      title: 'User',
      cell: ({ userId }) =>
        userId ? (
          <button type="button" className="quiet as-text" onClick={() => onUser(userId)}>
            <code>{userId}</code>
          </button>
        ) : null,
    },
    { title: 'Client', cell: ({ clientId }) => clientId },
    { title: 'From', cell: ({ ip }) => <code>{ip}</code> },
    { title: 'Facts', cell: (event) => <More event={event} /> },
  ];
}

function More({ event: { metadata, userAgent } }: { readonly event: AuditEvent }) {
  return (
    <details>
      <summary>{metadata.provider || 'more'}</summary>
      <JsonView value={{ ...metadata, userAgent }} />
    </details>
  );
}

function toneOf(eventType: string): Tone {
  if (/failure|refused|reused|replayed/.test(eventType)) return 'bad';
  if (/revoked|deleted|disabled|ended|narrowed|reset/.test(eventType)) return 'warning';
  return 'good';
}
