import { useEffect, useState, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { EditorPage } from './editor-page.tsx';
import { NewWorkflowPage } from './new-workflow-page.tsx';

/** What stands in the address in place of an id before there is one. */
const newId = 'new';

/**
 * The editor of a stored workflow, or of a new one, which gets an address of its own when it is first stored
 * and stays as it is: what is typed meanwhile, its history and the focus.
 */
export function AnyEditorPage({ id }: { readonly id: string }): ReactNode {
  const [, navigate] = useLocation();
  const [made, setMade] = useState<string>();
  const isNew = id === newId;
  // Whoever has gone on to another workflow finds this one as it was stored.
  if (made !== undefined && !isNew && id !== made) setMade(undefined);
  useEffect(() => {
    if (isNew && made !== undefined) navigate(`/${made}`, { replace: true });
  }, [isNew, made, navigate]);
  if (!isNew && id !== made) return <EditorPage key={id} id={id} />;
  return <NewWorkflowPage onMade={setMade} onReload={() => setMade(undefined)} />;
}
