import type { ReactNode } from 'react';
import { Permitted } from '../../session/permitted.tsx';
import { edgesOf, type Components, type FlowFault } from '../flow/flow.ts';
import { EdgePanel } from './edge-panel.tsx';
import { NodePanel } from './node-panel.tsx';
import type { Selection } from './selection.ts';
import type { WorkflowFacts } from './stored-workflow.ts';
import type { DraftState } from './use-draft.ts';
import { WorkflowPanel } from './workflow-panel.tsx';

export interface SidePanelProps {
  readonly draft: DraftState;
  readonly components: Components;
  readonly faults: readonly FlowFault[];
  readonly selection: Selection;
  readonly facts: WorkflowFacts | undefined;
  readonly onSelect: (selection: Selection) => void;
}

/** What there is to set of what is selected: a step, a connection, or the workflow itself. */
export function SidePanel(props: SidePanelProps): ReactNode {
  return (
    <aside className="workflow-panel" aria-label="Settings">
      <Content {...props} />
    </aside>
  );
}

function Content({ draft, components, faults, selection, facts, onSelect }: SidePanelProps) {
  const { flow, changeFlow } = draft;
  const [nodeId] = selection.nodes;
  const [edgeIndex] = selection.edges;
  const count = selection.nodes.length + selection.edges.length;
  if (count > 1) {
    return (
      <p className="faint">
        {count} things are selected. Delete removes them, dragging moves the steps.
      </p>
    );
  }
  const node = flow.nodes.find(({ id }) => id === nodeId);
  if (node) {
    return (
      <Permitted needs="workflow:create">
        <NodePanel
          key={node.id}
          {...{ flow, node, components, onSelect }}
          faults={faults.filter((fault) => fault.nodeId === node.id)}
          onChange={changeFlow}
        />
      </Permitted>
    );
  }
  const edge = edgeIndex === undefined ? undefined : edgesOf(flow)[edgeIndex];
  if (edge && edgeIndex !== undefined) {
    return (
      <Permitted needs="workflow:create">
        <EdgePanel
          key={edgeIndex}
          {...{ flow, edge, index: edgeIndex, components, onSelect }}
          faults={faults.filter((fault) => fault.edge === edgeIndex)}
          onChange={changeFlow}
        />
      </Permitted>
    );
  }
  return <WorkflowPanel draft={draft} facts={facts} />;
}
