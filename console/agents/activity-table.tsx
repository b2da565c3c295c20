import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { FollowState } from '../api/follow.ts';
import { Badge, type Tone } from '../ui/badge.tsx';
import { Empty } from '../ui/empty.tsx';
import { JsonView } from '../ui/json-view.tsx';
import { Problem } from '../ui/problem.tsx';
import {
  describeEvent,
  describeGap,
  isEvent,
  keyOfLine,
  type ActivityEvent,
  type LogLine,
} from './activity-log.ts';

export interface ActivityTableProps {
  readonly lines: readonly LogLine[];
  readonly state: FollowState;
  readonly refusal: string | undefined;
  readonly emptyText: string;
}

/** Events, the newest first, with the places where some are missing. */
export function ActivityTable({ lines, state, refusal, emptyText }: ActivityTableProps): ReactNode {
  if (refusal) return <Problem error={{ message: refusal }} />;
  if (lines.length === 0) {
    if (state === 'live') return <Empty title="Nothing has happened yet">{emptyText}</Empty>;
    return <p className="faint">{state === 'waiting' ? 'Trying again …' : 'Connecting …'}</p>;
  }
  return (
    <table className="table">
      <thead>
        <tr>
          <th scope="col">Time</th>
          <th scope="col">What</th>
          <th scope="col">Agent</th>
          <th scope="col">More</th>
          <th scope="col" className="figure">
            Number
          </th>
        </tr>
      </thead>
      <tbody>
        {lines.map((line) =>
          isEvent(line) ? (
            <EventRow key={keyOfLine(line)} {...line} />
          ) : (
            <tr key={keyOfLine(line)} className="gap">
              <td colSpan={5}>{describeGap(line)}</td>
            </tr>
          ),
        )}
      </tbody>
    </table>
  );
}

function EventRow(event: ActivityEvent): ReactNode {
  const { type, agentId, timestamp, seq } = event;
  return (
    <tr>
      <td>
        <time dateTime={timestamp} title={timestamp}>
          {new Date(timestamp).toLocaleTimeString()}
        </time>
      </td>
      <td>
        <Badge state={type} tone={toneOf(type)} />
      </td>
      <td>{agentId ? <Link href={`/${agentId}`}>{agentId}</Link> : null}</td>
      <td>
        <MoreOf event={event} />
      </td>
      <td className="figure">{seq}</td>
    </tr>
  );
}

function MoreOf({ event }: { readonly event: ActivityEvent }): ReactNode {
  return (
    <details>
      <summary>{describeEvent(event) || 'data'}</summary>
      <JsonView value={event.data} />
    </details>
  );
}

const bad = new Set(['task-failed', 'vote-conflict', 'attestation-revoked']);
const good = new Set(['task-executed', 'agent-registered', 'capability-attested', 'swarm-decided']);

function toneOf(type: string): Tone {
  if (bad.has(type)) return 'bad';
  return good.has(type) ? 'good' : 'neutral';
}
