import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { Refusal } from '../../api/refusal.ts';
import { Answered } from '../../ui/answered.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Problem } from '../../ui/problem.tsx';
import { formatCount } from '../../ui/text.ts';
import type { HeldFile } from '../answers.ts';
import { downloadFile, readContent, type FileContent, type FilePlace } from './file-calls.ts';
import { DeleteFileDialog, MoveDialog } from './file-dialogs.tsx';
import { FileHistory } from './file-history.tsx';
import { TextFile } from './text-file.tsx';

export interface FilePaneProps {
  readonly place: FilePlace;
  /** What is there by now; undefined when there is no such file any more. */
  readonly held: HeldFile | undefined;
  readonly mayEdit: boolean;
  readonly onMove: (path: string | undefined) => void;
}

/** An open file: its content, and what can be done with it. */
export function FilePane({ place, held, mayEdit, onMove }: FilePaneProps): ReactNode {
  const [isHistory, setIsHistory] = useState(false);
  const content = useContent(place);
  const isGone = content.error instanceof Refusal && content.error.status === 404;
  return (
    <section className="stack file-pane" aria-label={place.path}>
      <FileBar
        place={place}
        hash={held?.hash}
        mayEdit={mayEdit}
        isHistory={isHistory}
        onHistory={() => setIsHistory(!isHistory)}
        onMove={onMove}
      />
      {isHistory || isGone ? (
        <FileHistory place={place} nowHash={held?.hash} mayRestore={mayEdit} isGone={isGone} />
      ) : (
        <Answered query={content}>
          {(read) => (
            <Content
              key={content.dataUpdatedAt}
              place={place}
              content={read}
              nowHash={held?.hash}
              mayEdit={mayEdit}
              onReload={content.refetch}
            />
          )}
        </Answered>
      )}
    </section>
  );
}

/** Read once when it is opened; what becomes of it later is the editor's to decide. */
function useContent(place: FilePlace) {
  return useQuery({
    queryKey: ['file-content', place],
    queryFn: () => readContent(place),
    staleTime: Infinity,
    gcTime: 0,
  });
}

interface ContentProps {
  readonly place: FilePlace;
  readonly content: FileContent;
  readonly nowHash: string | undefined;
  readonly mayEdit: boolean;
  readonly onReload: () => unknown;
}

function Content({ content, ...props }: ContentProps) {
  const { text, hash, size, isTooLong } = content;
  if (text !== undefined) return <TextFile {...props} text={text} hash={hash} />;
  const title = isTooLong ? 'This file is too long to be shown here' : 'This file is no text';
  return (
    <Empty title={title}>
      <p>It has {formatCount(size)} bytes. Download it to open it.</p>
    </Empty>
  );
}

interface FileBarProps {
  readonly place: FilePlace;
  readonly hash: string | undefined;
  readonly mayEdit: boolean;
  readonly isHistory: boolean;
  readonly onHistory: () => void;
  readonly onMove: (path: string | undefined) => void;
}

function FileBar({ place, hash, mayEdit, isHistory, onHistory, onMove }: FileBarProps) {
  const [asked, setAsked] = useState<'move' | 'delete'>();
  const client = useQueryClient();
  const download = useMutation({ mutationFn: () => downloadFile(place) });
  const close = () => setAsked(undefined);
  const isThere = hash !== undefined;
  return (
    <>
      <div className="row file-bar">
        <h2 className="mono wrap">{place.path}</h2>
        <div className="actions">
          <button type="button" aria-pressed={isHistory} onClick={onHistory}>
            History
          </button>
          <button
            type="button"
            disabled={!isThere || download.isPending}
            onClick={() => download.mutate()}
          >
            Download
          </button>
          {mayEdit && isThere ? (
            <>
              <button type="button" onClick={() => setAsked('move')}>
                Rename
              </button>
              <button
                type="button"
                className="danger"
                aria-haspopup="dialog"
                onClick={() => setAsked('delete')}
              >
                Delete …
              </button>
            </>
          ) : null}
          <button type="button" className="quiet" onClick={() => onMove(undefined)}>
            Close
          </button>
        </div>
      </div>
      {download.error ? <Problem error={download.error} /> : null}
      {asked === 'move' ? <MoveDialog place={place} onMoved={onMove} onClose={close} /> : null}
      {asked === 'delete' && isThere ? (
        <DeleteFileDialog
          place={place}
          hash={hash}
          onDeleted={() => void client.invalidateQueries({ queryKey: ['file-content', place] })}
          onClose={close}
        />
      ) : null}
    </>
  );
}
