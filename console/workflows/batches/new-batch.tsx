import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import { useChange } from '../../api/answers.ts';
import { onceOnly } from '../../api/request-key.ts';
import { Permitted } from '../../session/permitted.tsx';
import { ChangeForm } from '../../ui/change-form.tsx';
import { Field } from '../../ui/field.tsx';
import { textOf } from '../../ui/form-values.ts';
import { ModalButton } from '../../ui/modal-button.tsx';
import { readItems } from './items.ts';

export interface NewBatchProps {
  readonly workflowId: string;
}

const failureModes = {
  continue: 'the others go on',
  stop: 'what runs is cancelled, and the rest is skipped',
} as const;

/** Runs a workflow for many inputs. */
export function NewBatchButton({ workflowId }: NewBatchProps): ReactNode {
  return (
    <Permitted needs="workflow:execute">
      <ModalButton label="New batch" look="primary">
        {(close) => <Start workflowId={workflowId} onClose={close} />}
      </ModalButton>
    </Permitted>
  );
}

function Start({ workflowId, onClose }: NewBatchProps & { readonly onClose: () => void }) {
  const [, navigate] = useLocation();
  const start = useChange('workflow', 'POST /api/v1/workflows/:workflowId/batch', {
    onDone: ({ batchId }) => navigate(`/${workflowId}/batches/${batchId}`),
  });
  const submit = (form: FormData) =>
    start.mutate(async () => ({
      params: { workflowId },
      headers: onceOnly(),
      body: {
        inputs: readItems(await itemsTextOf(form)),
        options: {
          concurrency: Number(textOf(form, 'concurrency')),
          failureMode: textOf(form, 'failureMode') === 'stop' ? 'stop' : 'continue',
        },
      },
    }));
  return (
    <ChangeForm change={start} action="Start" onSubmit={submit} onCancel={onClose}>
      <Field
        label="Items"
        hint="The inputs of one execution each: a JSON array of objects, or a JSON object a line."
      >
        <textarea
          name="items"
          className="mono"
          rows={8}
          placeholder={'{"name": "Ada"}\n{"name": "Grace"}'}
        />
      </Field>
      <Field label="Or a file with them">
        <input type="file" name="file" accept=".json,.jsonl,.ndjson,.txt" />
      </Field>
      <Field label="At once">
        <input type="number" name="concurrency" min={1} max={50} defaultValue={5} required />
      </Field>
      <Field label="When one fails">
        <select name="failureMode">
          {Object.entries(failureModes).map(([mode, text]) => (
            <option key={mode} value={mode}>
              {text}
            </option>
          ))}
        </select>
      </Field>
    </ChangeForm>
  );
}

/** What a file says, where one was chosen. */
async function itemsTextOf(form: FormData): Promise<string> {
  const file = form.get('file');
  return file instanceof File && file.name !== '' ? file.text() : textOf(form, 'items');
}
