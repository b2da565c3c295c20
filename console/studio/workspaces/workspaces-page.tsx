import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { useAnswer, useChange } from '../../api/answers.ts';
import { usePerson } from '../../session/person.ts';
import { Answered } from '../../ui/answered.tsx';
import { ChangeForm } from '../../ui/change-form.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Field } from '../../ui/field.tsx';
import { filled, textOf } from '../../ui/form-values.ts';
import { ModalButton } from '../../ui/modal-button.tsx';
import { Page } from '../../ui/page.tsx';
import { PagedTable } from '../../ui/paged-table.tsx';
import type { Column } from '../../ui/table.tsx';
import { formatAge } from '../../ui/text.ts';
import { useKept } from '../../ui/use-kept.ts';
import type { Workspace } from '../answers.ts';
import { rightsIn } from './rights.ts';

const limit = 50;

/** The workspaces of which one is a member. */
export function WorkspacesPage(): ReactNode {
  const [offset, setOffset] = useKept('offset', 0);
  const person = usePerson();
  const listed = useAnswer('studio', 'GET /api/v1/workspaces', { query: { limit, offset } });
  const roleColumn: Column<Workspace> = {
    title: 'Your role',
    cell: (workspace) => person && rightsIn(workspace, person).role,
  };
  const create = (
    <ModalButton label="New workspace" look="primary">
      {(close) => <NewWorkspaceForm onClose={close} />}
    </ModalButton>
  );
  return (
    <Page title="Studio" actions={create}>
      <Answered query={listed}>
        {({ workspaces, total }) => (
          <PagedTable
            columns={[...columns, roleColumn]}
            rows={workspaces}
            keyOf={({ id }) => id}
            {...{ offset, limit, total }}
            onMove={setOffset}
            empty={
              <Empty title="There is no workspace yet">
                <p>
                  A workspace is a folder with members, in which people and agents work on files.
                </p>
              </Empty>
            }
          />
        )}
      </Answered>
    </Page>
  );
}

const columns: readonly Column<Workspace>[] = [
  { title: 'Name', cell: ({ id, name }) => <Link href={`/${id}`}>{name}</Link> },
  { title: 'About', cell: ({ description }) => description },
  { title: 'Members', cell: ({ members }) => members.length, isFigure: true },
  { title: 'Created', cell: ({ createdAt }) => formatAge(createdAt) },
];

function NewWorkspaceForm({ onClose }: { readonly onClose: () => void }) {
  const [, navigate] = useLocation();
  const creation = useChange('studio', 'POST /api/v1/workspaces');
  const create = (form: FormData) => {
    const body = { name: textOf(form, 'name'), ...filled(form, 'description') };
    creation.mutate({ body }, { onSuccess: ({ id }) => navigate(`/${id}`) });
  };
  return (
    <ChangeForm change={creation} action="Create" onSubmit={create} onCancel={onClose}>
      <Field label="Name">
        <input name="name" required maxLength={128} autoComplete="off" />
      </Field>
      <Field label="Description" hint="What it is for; may be left blank.">
        <textarea name="description" maxLength={4_096} />
      </Field>
    </ChangeForm>
  );
}
