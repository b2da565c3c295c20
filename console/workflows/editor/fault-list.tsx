import type { ReactNode } from 'react';
import type { FlowFault } from '../flow/flow.ts';
import { selectNode, type Selection } from './selection.ts';
import type { Faults } from './use-faults.ts';

export interface FaultListProps {
  readonly faults: Faults;
  readonly onSelect: (selection: Selection) => void;
}

/** Everything that is wrong with the flow; each fault leads to its place. */
export function FaultList({ faults: { found }, onSelect }: FaultListProps): ReactNode {
  if (!found) return null;
  if (found.length === 0) {
    return <output className="workflow-verdict good">Nothing is wrong with this flow.</output>;
  }
  return (
    <section className="workflow-verdict bad" role="alert" aria-label="Faults">
      <strong>
        {found.length === 1 ? 'One fault' : `${found.length} faults`}: a flow is saved without any.
      </strong>
      <ul>
        {found.map((fault) => (
          <li key={`${fault.code} ${fault.nodeId} ${fault.edge} ${fault.path} ${fault.message}`}>
            <FaultLink fault={fault} onSelect={onSelect} />
          </li>
        ))}
      </ul>
    </section>
  );
}

interface FaultLinkProps {
  readonly fault: FlowFault;
  readonly onSelect: (selection: Selection) => void;
}

function FaultLink({ fault: { nodeId, edge, message }, onSelect }: FaultLinkProps) {
  if (nodeId === undefined && edge === undefined) return message;
  const place = nodeId === undefined ? { nodes: [], edges: [edge ?? 0] } : selectNode(nodeId);
  return (
    <button type="button" className="quiet" onClick={() => onSelect(place)}>
      {nodeId === undefined ? '' : `${nodeId}: `}
      {message}
    </button>
  );
}
