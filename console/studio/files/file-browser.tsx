import { useMemo, useRef, useState, type DragEvent, type ReactNode } from 'react';
import { formatCount } from '../../ui/text.ts';
import type { HeldFile } from '../answers.ts';
import { foldersAbove, growTree, rowsFound, rowsOf } from './file-tree.ts';
import { TreeList } from './tree-list.tsx';
import type { NewUpload } from './uploads.ts';

export interface FileBrowserProps {
  readonly files: ReadonlyMap<string, HeldFile>;
  readonly openPath: string | undefined;
  readonly onOpen: (path: string) => void;
  /** Absent where one may not write. */
  readonly onNew?: () => void;
  readonly onUpload?: (files: readonly NewUpload[]) => void;
}

/** The files of a workspace: as folders, or those that a word finds. Files are dropped on it. */
export function FileBrowser(props: FileBrowserProps): ReactNode {
  const { files, openPath, onOpen, onNew, onUpload } = props;
  const [words, setWords] = useState('');
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set(foldersAbove(openPath ?? '')));
  const [isOver, setIsOver] = useState(false);
  const tree = useMemo(() => growTree(files.keys()), [files]);
  const rows = words === '' ? rowsOf(tree, opened) : rowsFound(files.keys(), words);
  const drop = (event: DragEvent, folder: string) => {
    event.preventDefault();
    event.stopPropagation();
    setIsOver(false);
    onUpload?.(uploadsInto(folder, event.dataTransfer.files));
  };
  return (
    <section
      className={isOver ? 'card file-browser over' : 'card file-browser'}
      aria-label="Files"
      {...(onUpload
        ? {
            onDragOver: (event: DragEvent) => {
              event.preventDefault();
              setIsOver(true);
            },
            onDragLeave: () => setIsOver(false),
            onDrop: (event: DragEvent) => drop(event, ''),
          }
        : {})}
    >
      <div className="row">
        {onNew ? (
          <button type="button" onClick={onNew}>
            New file
          </button>
        ) : null}
        {onUpload ? <UploadButton onUpload={onUpload} /> : null}
      </div>
      <input
        type="search"
        aria-label="Find files"
        placeholder="Find files"
        value={words}
        onChange={({ target }) => setWords(target.value)}
      />
      <TreeList
        rows={rows}
        openPath={openPath}
        onOpen={onOpen}
        onToggle={(folder) => setOpened(toggled(opened, folder))}
        {...(onUpload ? { onDrop: drop } : {})}
      />
      <p className="faint">
        {formatCount(files.size)} {files.size === 1 ? 'file' : 'files'}
      </p>
    </section>
  );
}

function UploadButton({ onUpload }: { readonly onUpload: (files: readonly NewUpload[]) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button type="button" onClick={() => input.current?.click()}>
        Upload
      </button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files to upload"
        onChange={({ target }) => {
          onUpload(uploadsInto('', target.files ?? []));
          target.value = '';
        }}
      />
    </>
  );
}

/** Files into a folder, under their own names; of several at once those that are folders are left out. */
function uploadsInto(folder: string, files: ArrayLike<File>): readonly NewUpload[] {
  const above = folder === '' ? '' : `${folder}/`;
  return Array.from(files, (file) => ({ path: `${above}${file.name}`, file }));
}

function toggled(opened: ReadonlySet<string>, folder: string): ReadonlySet<string> {
  const next = new Set(opened);
  if (!next.delete(folder)) next.add(folder);
  return next;
}
