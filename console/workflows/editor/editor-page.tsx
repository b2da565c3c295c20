import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { lacksPlaces, layOut } from '../flow/layout.ts';
import { Answered } from '../../ui/answered.tsx';
import { Editor } from './editor.tsx';
import { labelsOf, readNewest } from './stored-workflow.ts';

/** The editor of a stored workflow, with its newest flow. */
export function EditorPage({ id }: { readonly id: string }): ReactNode {
  const [reading, setReading] = useState(0);
  const workflow = useQuery({
    queryKey: ['workflow', 'newest', id, reading],
    queryFn: () => readNewest(id),
    // What is edited stays as it is; others' changes are told when it is saved.
    staleTime: Infinity,
    gcTime: 0,
  });
  return (
    <Answered query={workflow} title="Workflow">
      {(stored) => {
        const flow = lacksPlaces(stored.flow) ? layOut(stored.flow) : stored.flow;
        return (
          <Editor
            key={reading}
            initial={{ flow, labels: labelsOf(stored) }}
            facts={stored}
            onReload={() => setReading(reading + 1)}
          />
        );
      }}
    </Answered>
  );
}
