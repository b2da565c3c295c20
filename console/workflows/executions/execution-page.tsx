import { ReactFlowProvider } from '@xyflow/react';
import { useMemo, useState, type ReactNode } from 'react';
import { useAnswer } from '../../api/answers.ts';
import { Answered } from '../../ui/answered.tsx';
import { Problem } from '../../ui/problem.tsx';
import type { Component, Flow } from '../flow/flow.ts';
import { lacksPlaces, layOut } from '../flow/layout.ts';
import { statesOf, type Execution } from '../flow/runs.ts';
import { Approvals } from './approvals.tsx';
import { ExecutionCanvas } from './execution-canvas.tsx';
import { ExecutionHead } from './execution-head.tsx';
import { ExecutionSummary } from './execution-summary.tsx';
import { NodeRunPanel } from './node-run-panel.tsx';
import { useExecution } from './use-execution.ts';

/** An execution as it happens: its flow with the state of each step, and what came of it. */
export function ExecutionPage({ executionId }: { readonly executionId: string }): ReactNode {
  const { execution, isCut } = useExecution(executionId);
  return (
    <Answered query={execution} title="Execution">
      {(found) => (
        <ReactFlowProvider>
          <ExecutionView execution={found} isCut={isCut} />
        </ReactFlowProvider>
      )}
    </Answered>
  );
}

interface ExecutionViewProps {
  readonly execution: Execution;
  readonly isCut: boolean;
}

function ExecutionView({ execution, isCut }: ExecutionViewProps) {
  const [selected, setSelected] = useState<string>();
  const { workflow, flow, components } = useDrawing(execution);
  const node = flow.nodes.find(({ id }) => id === selected);
  return (
    <div className="workflow-execution">
      <ExecutionHead execution={execution} name={workflow.data?.name} />
      <div className="workflow-canvas">
        {workflow.error ? <Problem error={workflow.error} /> : null}
        <ExecutionCanvas
          {...{ flow, components, selected }}
          states={statesOf(execution.nodes)}
          onSelect={setSelected}
        />
        <div className="workflow-notices">
          {isCut ? (
            <output className="workflow-cut">
              Nothing is heard of it now. This page goes on by itself once Ennead answers again.
            </output>
          ) : null}
          <Approvals execution={execution} flow={flow} />
        </div>
      </div>
      <aside className="workflow-panel" aria-label={node ? 'Step' : 'Execution'}>
        {node ? (
          <NodeRunPanel
            key={node.id}
            {...{ execution, node }}
            onClose={() => setSelected(undefined)}
          />
        ) : (
          <ExecutionSummary {...{ execution, flow }} onSelect={setSelected} />
        )}
      </aside>
    </div>
  );
}

const noFlow: Flow = { nodes: [] };
const noComponents: readonly Component[] = [];

/** The flow in the version that runs. */
function useDrawing({ workflowId, version }: Execution) {
  const input = { params: { id: workflowId }, query: { version } };
  const workflow = useAnswer('workflow', 'GET /api/v1/workflows/:id', input);
  const catalog = useAnswer('workflow', 'GET /api/v1/components');
  const stored = workflow.data?.flow ?? noFlow;
  const list = catalog.data?.components ?? noComponents;
  const flow = useMemo(() => (lacksPlaces(stored) ? layOut(stored) : stored), [stored]);
  const components = useMemo(() => new Map(list.map((one) => [one.name, one])), [list]);
  return { workflow, flow, components };
}
