import { useReducer } from 'react';
import { advance, redo, startHistory, undo, type History } from '../flow/history.ts';
import type { Flow } from '../flow/flow.ts';
import type { Draft, Labels } from './stored-workflow.ts';

interface State {
  readonly flows: History<Flow>;
  readonly labels: Labels;
  /** As it was last stored; none of a new workflow. */
  readonly stored: Draft | undefined;
}

type Action =
  | { readonly type: 'flow'; readonly flow: Flow; readonly topic: string | undefined }
  | { readonly type: 'labels'; readonly labels: Labels }
  | { readonly type: 'undo' | 'redo' }
  | { readonly type: 'stored'; readonly draft: Draft };

/** What is edited, with its history. */
export interface DraftState extends Draft {
  /** Whether there is something to save. */
  readonly isChanged: boolean;
  readonly canUndo: boolean;
  readonly canRedo: boolean;
  /** Changes about one topic in a row are undone at once. */
  readonly changeFlow: (flow: Flow, topic?: string) => void;
  readonly changeLabels: (labels: Labels) => void;
  readonly undo: () => void;
  readonly redo: () => void;
  readonly noteStored: (draft: Draft) => void;
}

/** Edits a draft. One that is new counts as changed. */
export function useDraft(initial: Draft, isNew: boolean): DraftState {
  const [state, act] = useReducer(step, {
    flows: startHistory(initial.flow),
    labels: initial.labels,
    stored: isNew ? undefined : initial,
  });
  const { flows, labels, stored } = state;
  return {
    flow: flows.present,
    labels,
    isChanged: stored?.flow !== flows.present || stored.labels !== labels,
    canUndo: flows.past.length > 0,
    canRedo: flows.future.length > 0,
    changeFlow: (flow, topic) => act({ type: 'flow', flow, topic }),
    changeLabels: (changed) => act({ type: 'labels', labels: changed }),
    undo: () => act({ type: 'undo' }),
    redo: () => act({ type: 'redo' }),
    noteStored: (draft) => act({ type: 'stored', draft }),
  };
}

function step(state: State, action: Action): State {
  switch (action.type) {
    case 'flow':
      return { ...state, flows: advance(state.flows, action.flow, action.topic) };
    case 'labels':
      return { ...state, labels: action.labels };
    case 'stored':
      return { ...state, stored: action.draft };
    case 'undo':
      return { ...state, flows: undo(state.flows) };
    default:
      return { ...state, flows: redo(state.flows) };
  }
}
