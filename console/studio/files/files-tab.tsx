import type { UseQueryResult } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useSearchParams } from 'wouter';
import { Answered } from '../../ui/answered.tsx';
import { Empty } from '../../ui/empty.tsx';
import type { Workspace } from '../answers.ts';
import { useRights } from '../workspaces/use-rights.ts';
import { FileBrowser } from './file-browser.tsx';
import { FilePane } from './file-pane.tsx';
import type { HeldFiles } from './held-files.ts';
import { NewFileDialog } from './file-dialogs.tsx';
import { UploadList } from './upload-list.tsx';
import { useUploads } from './uploads.ts';

export interface FilesTabProps {
  readonly workspace: Workspace;
  readonly held: UseQueryResult<HeldFiles>;
}

/** The tree of files, and the one that is open beside it. */
export function FilesTab({ workspace, held }: FilesTabProps): ReactNode {
  return (
    <Answered query={held}>
      {({ files }) => <OpenFiles workspace={workspace} files={files} />}
    </Answered>
  );
}

function OpenFiles({
  workspace,
  files,
}: {
  readonly workspace: Workspace;
  readonly files: HeldFiles['files'];
}) {
  const { mayEditFiles } = useRights(workspace);
  const [path, openFile] = useOpenPath();
  const [isCreating, setIsCreating] = useState(false);
  const uploads = useUploads(workspace.id);
  return (
    <div className="files">
      <div className="stack">
        <FileBrowser
          files={files}
          openPath={path}
          onOpen={openFile}
          {...(mayEditFiles
            ? { onNew: () => setIsCreating(true), onUpload: (added) => void uploads.add(added) }
            : {})}
        />
        <UploadList uploads={uploads} />
      </div>
      {path === undefined ? (
        <Empty title={files.size === 0 ? 'There are no files yet' : 'No file is open'}>
          <p>
            {files.size === 0
              ? 'Make a new file, or drop some on the list.'
              : 'Choose one from the list.'}
          </p>
        </Empty>
      ) : (
        <FilePane
          key={path}
          place={{ workspaceId: workspace.id, path }}
          held={files.get(path)}
          mayEdit={mayEditFiles}
          onMove={openFile}
        />
      )}
      {isCreating ? (
        <NewFileDialog
          workspaceId={workspace.id}
          onMade={openFile}
          onClose={() => setIsCreating(false)}
        />
      ) : null}
    </div>
  );
}

/** The path of the file that is open, which stands in the page's address. */
function useOpenPath(): readonly [string | undefined, (path: string | undefined) => void] {
  const [search, setSearch] = useSearchParams();
  const open = (path: string | undefined) =>
    setSearch(path === undefined ? new URLSearchParams() : new URLSearchParams({ file: path }));
  return [search.get('file') ?? undefined, open];
}
