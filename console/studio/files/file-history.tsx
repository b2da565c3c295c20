import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { call } from '../../api/call.ts';
import { Answered } from '../../ui/answered.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { formatAge, formatCount } from '../../ui/text.ts';
import type { FileVersion } from '../answers.ts';
import { readContent, readIfThere, restoreFile, type FilePlace } from './file-calls.ts';
import { noteApplied } from './held-files.ts';
import { toEdited } from './text-form.ts';
import { TwoTexts } from './two-texts.tsx';

export interface FileHistoryProps {
  readonly place: FilePlace;
  /** Of what the file holds by now. */
  readonly nowHash: string | undefined;
  readonly mayRestore: boolean;
  readonly isGone: boolean;
}

/** What a file held before: to look at, and to have again. */
export function FileHistory(props: FileHistoryProps): ReactNode {
  const { place, nowHash, mayRestore, isGone } = props;
  const [seen, setSeen] = useState<FileVersion>();
  const restore = useRestore(place);
  // The hash makes it be asked anew whenever the file has changed.
  const history = useHistory(place, nowHash);
  const columns = columnsFor({ nowHash, onCompare: setSeen, ...(mayRestore ? { restore } : {}) });
  return (
    <div className="stack">
      {isGone ? (
        <Empty title="There is no such file">
          <p>What it held before can be restored for as long as its versions are kept.</p>
        </Empty>
      ) : null}
      {restore.error ? <Problem error={restore.error} /> : null}
      <Answered query={history}>
        {({ versions }) => (
          <Table columns={columns} rows={versions} keyOf={({ seq }) => String(seq)} />
        )}
      </Answered>
      {seen ? <Comparison key={`${seen.hash} ${nowHash}`} place={place} version={seen} /> : null}
    </div>
  );
}

interface Choices {
  readonly nowHash: string | undefined;
  readonly onCompare: (version: FileVersion) => void;
  /** Absent where one may not write. */
  readonly restore?: ReturnType<typeof useRestore>;
}

function columnsFor(choices: Choices): readonly Column<FileVersion>[] {
  return [
    { title: 'When', cell: ({ at }) => <time dateTime={at}>{formatAge(at)}</time> },
    { title: 'By', cell: ({ deviceId }) => deviceId },
    { title: 'Bytes', cell: ({ size }) => formatCount(size), isFigure: true },
    { title: '', cell: (version) => <VersionChoices version={version} {...choices} /> },
  ];
}

function VersionChoices(props: Choices & { readonly version: FileVersion }) {
  const { version, nowHash, onCompare, restore } = props;
  const isNow = version.hash === nowHash;
  return (
    <div className="row">
      <button type="button" onClick={() => onCompare(version)}>
        Compare
      </button>
      {restore && !isNow ? (
        <button
          type="button"
          disabled={restore.isPending}
          onClick={() => restore.mutate(version.hash)}
        >
          Restore
        </button>
      ) : null}
      {isNow ? <span className="faint">as it is now</span> : null}
    </div>
  );
}

function useHistory({ workspaceId, path }: FilePlace, nowHash: string | undefined) {
  return useQuery({
    queryKey: ['file-history', workspaceId, path, nowHash],
    queryFn: () =>
      call('studio', 'GET /api/v1/workspaces/:id/files/*', {
        params: { id: workspaceId, '*': path },
        query: { versions: '1' },
      }),
  });
}

function useRestore(place: FilePlace) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (hash: string) => restoreFile(place, hash),
    onSuccess: async (applied) => {
      noteApplied(client, place, applied);
      await client.invalidateQueries({ queryKey: ['file-content', place] });
    },
  });
}

interface ComparisonProps {
  readonly place: FilePlace;
  readonly version: FileVersion;
}

function Comparison({ place, version }: ComparisonProps) {
  const texts = useQuery({
    queryKey: ['file-comparison', place, version.hash],
    queryFn: async () => ({
      before: await readContent(place, version.hash),
      now: await readIfThere(place),
    }),
    gcTime: 0,
  });
  return (
    <Answered query={texts}>
      {({ before, now }) =>
        before.text === undefined || (now && now.text === undefined) ? (
          <Empty title="These contents are no text, or too long to be shown" />
        ) : (
          <TwoTexts
            left={{ title: `Version of ${version.at}`, text: toEdited(before.text) }}
            right={{ title: 'Now', text: toEdited(now?.text ?? '') }}
          />
        )
      }
    </Answered>
  );
}
