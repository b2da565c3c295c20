import type { ReactNode } from 'react';
import { Editor, type EditorProps } from './editor.tsx';

const blank = {
  flow: { nodes: [] },
  labels: { name: 'New workflow', description: '', category: 'general', tags: [] },
};

/** An empty canvas; it becomes a workflow when it is saved, as a flow has at least one step. */
export function NewWorkflowPage(props: Pick<EditorProps, 'onMade' | 'onReload'>): ReactNode {
  return <Editor initial={blank} facts={undefined} {...props} />;
}
