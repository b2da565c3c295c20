import { ReactFlowProvider, useReactFlow } from '@xyflow/react';
import { useEffect, useState, type ReactNode } from 'react';
import { useAnswer } from '../../api/answers.ts';
import type { Component } from '../flow/flow.ts';
import { layOut } from '../flow/layout.ts';
import { Answered } from '../../ui/answered.tsx';
import { ConflictDialog } from './conflict-dialog.tsx';
import { EditorCanvas } from './editor-canvas.tsx';
import { FaultList } from './fault-list.tsx';
import { LeaveGuard } from './leave-guard.tsx';
import { Palette, type PaletteGroup } from './palette.tsx';
import { placeBehind } from './placing.ts';
import { RunDialog } from './run-dialog.tsx';
import { nothingSelected, selectNode, type Selection } from './selection.ts';
import { SidePanel } from './side-panel.tsx';
import type { Draft, WorkflowFacts } from './stored-workflow.ts';
import { Toolbar } from './toolbar.tsx';
import { useDraft, type DraftState } from './use-draft.ts';
import { useFaults } from './use-faults.ts';
import { useStoring, type Storing } from './use-storing.ts';
import { VersionsDialog } from './versions-dialog.tsx';

export interface EditorProps {
  readonly initial: Draft;
  /** Of a workflow that is stored. */
  readonly facts: WorkflowFacts | undefined;
  /** Reads the workflow anew, and drops what was edited. */
  readonly onReload: () => void;
  /** Told the id of a workflow that was new, once it is stored. */
  readonly onMade?: (id: string) => void;
}

/** Where a workflow is drawn. */
export function Editor(props: EditorProps): ReactNode {
  const catalog = useAnswer('workflow', 'GET /api/v1/components');
  return (
    <Answered query={catalog}>
      {({ components, groups }) => (
        <ReactFlowProvider>
          <Workbench {...props} components={components} groups={toGroups(components, groups)} />
        </ReactFlowProvider>
      )}
    </Answered>
  );
}

interface GroupNames {
  readonly title: string;
  readonly components: readonly string[];
}

function toGroups(
  components: readonly Component[],
  groups: readonly GroupNames[],
): readonly PaletteGroup[] {
  return groups.map(({ title, components: names }) => ({
    title,
    components: components.filter(({ name }) => names.includes(name)),
  }));
}

interface WorkbenchProps extends EditorProps {
  readonly components: readonly Component[];
  readonly groups: readonly PaletteGroup[];
}

type Shown = 'run' | 'versions' | undefined;

function Workbench(props: WorkbenchProps) {
  const { initial, facts, onReload, onMade, components: list, groups } = props;
  const [components] = useState(() => new Map(list.map((one) => [one.name, one])));
  const draft = useDraft(initial, facts === undefined);
  const faults = useFaults(draft.flow);
  const storing = useStoring({ initial: facts, draft, faults });
  const [selection, setSelection] = useState<Selection>(nothingSelected);
  const [shown, setShown] = useState<Shown>();
  const [refusal, setRefusal] = useState<string>();
  const { fitView } = useReactFlow();
  useMade(facts ? undefined : storing.facts?.id, onMade);
  const { flow, changeFlow } = draft;
  const add = (name: string, place?: { readonly x: number; readonly y: number }) => {
    const placed = placeBehind(flow, { component: name, place, selection, components });
    changeFlow(placed.flow);
    setSelection(selectNode(placed.id));
    setRefusal(undefined);
    if (!place) requestAnimationFrame(() => void fitView({ maxZoom: 1, duration: 200 }));
  };
  const arrange = () => {
    changeFlow(layOut(flow));
    requestAnimationFrame(() => void fitView({ maxZoom: 1, duration: 200 }));
  };
  return (
    <div className="workflow-editor">
      <Toolbar {...{ draft, faults, storing }} onArrange={arrange} onShow={setShown} />
      <Palette groups={groups} onAdd={add} />
      <div className="workflow-canvas">
        <EditorCanvas
          {...{ flow, components, selection }}
          faults={faults.found ?? []}
          onChange={(changed) => {
            setRefusal(undefined);
            changeFlow(changed);
          }}
          onSelect={setSelection}
          onDrop={add}
          onRefuse={setRefusal}
        />
        {flow.nodes.length === 0 ? (
          <p className="workflow-blank">Drag a component onto this canvas to begin.</p>
        ) : null}
        <output className="workflow-refusal">{refusal}</output>
        <FaultList faults={faults} onSelect={setSelection} />
      </div>
      <SidePanel
        {...{ draft, components, selection, facts: storing.facts }}
        faults={faults.found ?? []}
        onSelect={setSelection}
      />
      <LeaveGuard isChanged={draft.isChanged && flow.nodes.length > 0} />
      <Dialogs {...{ draft, storing, shown, onReload }} onClose={() => setShown(undefined)} />
    </div>
  );
}

interface DialogsProps extends Pick<EditorProps, 'onReload'> {
  readonly draft: DraftState;
  readonly storing: Storing;
  readonly shown: Shown;
  readonly onClose: () => void;
}

function Dialogs({ draft, storing, shown, onReload, onClose }: DialogsProps) {
  return (
    <>
      {storing.hasConflict ? <ConflictDialog storing={storing} onReload={onReload} /> : null}
      {shown === 'run' ? <RunDialog {...{ draft, storing, onClose }} /> : null}
      {shown === 'versions' && storing.facts ? <VersionsDialog {...{ storing, onClose }} /> : null}
    </>
  );
}

/** Tells the id of a workflow that was new, once it has one. */
function useMade(id: string | undefined, onMade: EditorProps['onMade']): void {
  useEffect(() => {
    if (id !== undefined) onMade?.(id);
  }, [id, onMade]);
}
