import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { call } from '../../api/call.ts';
import { saveFile } from '../../ui/download.ts';
import { Problem } from '../../ui/problem.tsx';

/** Saves the published version, or a draft's newest, as a file that the import takes as it is. */
export function ExportButton({
  id,
  name,
}: {
  readonly id: string;
  readonly name: string;
}): ReactNode {
  const write = useMutation({
    mutationFn: async () => {
      const exported = await call('workflow', 'GET /api/v1/workflows/:id/export', {
        params: { id },
      });
      saveFile(`${name}.json`, JSON.stringify(exported, null, 2));
    },
  });
  return (
    <>
      <button
        type="button"
        className="workflow-start"
        disabled={write.isPending}
        onClick={() => write.mutate()}
      >
        Export as JSON
      </button>
      {write.error ? <Problem error={write.error} /> : null}
    </>
  );
}
