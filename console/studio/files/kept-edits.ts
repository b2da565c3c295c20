import { useQueryClient, type QueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { FilePlace } from './file-calls.ts';

/** What an edit began with; without a hash, nothing. */
export interface Base {
  readonly text: string;
  readonly hash: string | undefined;
}

/** A text that was typed and not saved yet. */
export interface KeptEdit {
  readonly base: Base;
  readonly draft: string;
}

const kind = 'file-edit';

/** What was typed into a file and not saved, also while another one is open. */
export function keptEdit(client: QueryClient, place: FilePlace): KeptEdit | undefined {
  return client.getQueryData<KeptEdit | null>(keyOf(place)) ?? undefined;
}

/** Keeps an edit until it is saved or dropped, for as long as this page is open. */
export function keepEdit(client: QueryClient, place: FilePlace, edit: KeptEdit | undefined): void {
  client.setQueryDefaults([kind], { gcTime: Infinity });
  client.setQueryData<KeptEdit | null>(keyOf(place), edit ?? null);
}

/** Has the browser ask before it leaves edits behind. */
export function useLeaveGuard(): void {
  const client = useQueryClient();
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent) => {
      const edits = client.getQueriesData<KeptEdit | null>({ queryKey: [kind] });
      if (edits.some(([, edit]) => edit)) event.preventDefault();
    };
    window.addEventListener('beforeunload', ask);
    return () => window.removeEventListener('beforeunload', ask);
  }, [client]);
}

function keyOf({ workspaceId, path }: FilePlace): readonly string[] {
  return [kind, workspaceId, path];
}
