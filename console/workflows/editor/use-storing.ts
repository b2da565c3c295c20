import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api/call.ts';
import { Refusal } from '../../api/refusal.ts';
import type { DraftState } from './use-draft.ts';
import type { Faults } from './use-faults.ts';
import { createDraft, saveDraft, type WorkflowFacts } from './stored-workflow.ts';

/** Saves, and what came of it. */
export interface Storing {
  /** As it is stored; undefined of a new one that was never saved. */
  readonly facts: WorkflowFacts | undefined;
  readonly isBusy: boolean;
  readonly error: Error | undefined;
  /** Somebody else has saved meanwhile: nothing was stored. */
  readonly hasConflict: boolean;
  /** What is stored then; undefined where it was not. */
  readonly save: () => Promise<WorkflowFacts | undefined>;
  readonly publish: () => Promise<void>;
  /** Stores what is edited as a workflow of its own. */
  readonly saveAsCopy: () => Promise<WorkflowFacts | undefined>;
  readonly noteFacts: (facts: WorkflowFacts) => void;
  readonly forgetError: () => void;
}

export interface StoringParts {
  readonly initial: WorkflowFacts | undefined;
  readonly draft: DraftState;
  readonly faults: Faults;
}

/** Stores what is edited, unless it has faults or somebody else was faster. */
export function useStoring({ initial, draft, faults }: StoringParts): Storing {
  const client = useQueryClient();
  const [facts, setFacts] = useState(initial);
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<Error>();
  const attempt = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    setIsBusy(true);
    setError(undefined);
    try {
      return await work();
    } catch (caught) {
      setError(caught as Error);
      return undefined;
    } finally {
      setIsBusy(false);
      void client.invalidateQueries({ queryKey: ['workflow'] });
    }
  };
  const store = async () => {
    if (facts && !draft.isChanged) return facts;
    if ((await faults.check()).length > 0) return undefined;
    const { flow, labels } = draft;
    const stored = facts
      ? await saveDraft({ flow, labels }, facts)
      : await createDraft({ flow, labels });
    draft.noteStored({ flow, labels });
    setFacts(stored);
    return stored;
  };
  const publish = async () => {
    const stored = await store();
    if (!stored) return;
    const { id, latestVersion: version } = stored;
    const input = { params: { id }, body: { version } };
    setFacts(await call('workflow', 'POST /api/v1/workflows/:id/publish', input));
  };
  const copy = async () => {
    const { flow, labels } = draft;
    return await createDraft({ flow, labels: { ...labels, name: `${labels.name} (copy)` } });
  };
  return {
    facts,
    isBusy,
    error,
    hasConflict: error instanceof Refusal && error.code?.toUpperCase() === 'WORKFLOW_CHANGED',
    save: () => attempt(store),
    publish: async () => {
      await attempt(publish);
    },
    saveAsCopy: () => attempt(copy),
    noteFacts: setFacts,
    forgetError: () => setError(undefined),
  };
}
