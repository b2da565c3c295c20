import { useState, type ReactNode } from 'react';
import { useAnswer, useChange } from '../../api/answers.ts';
import { ChangeForm } from '../../ui/change-form.tsx';
import { Field } from '../../ui/field.tsx';
import { newLimit, periods, toLimitForm, units, type Budget, type LimitForm } from './budgets.ts';

export interface BudgetFormProps {
  /** Absent for a new one. */
  readonly budget?: Budget;
  readonly onClose: () => void;
}

/** As many as a budget may have: each unit once for a period. */
const limitsMax = units.length * periods.length;

/** Limits what a user or key may take. */
export function BudgetForm({ budget, onClose }: BudgetFormProps): ReactNode {
  const [subject, setSubject] = useState(budget?.subject ?? '');
  const [limits, setLimits] = useState<readonly LimitForm[]>(
    budget?.limits.map(toLimitForm) ?? [newLimit],
  );
  const saving = useChange('gateway', 'PUT /api/v1/budgets/:subject');
  const save = () => {
    const body = { limits: limits.map((limit) => ({ ...limit, amount: Number(limit.amount) })) };
    saving.mutate({ params: { subject }, body }, { onSuccess: onClose });
  };
  return (
    <ChangeForm change={saving} action="Save" onSubmit={save} onCancel={onClose}>
      {budget ? null : <SubjectField subject={subject} onChange={setSubject} />}
      {limits.map((limit, index) => (
        <LimitFields
          // Limits are known by their places: any of their fields may change.
          // oxlint-disable-next-line react/no-array-index-key
          key={index}
          limit={limit}
          onChange={(changed) =>
            setLimits(limits.map((other, at) => (at === index ? changed : other)))
          }
          onRemove={
            limits.length > 1 ? () => setLimits(limits.filter((_, at) => at !== index)) : undefined
          }
        />
      ))}
      {limits.length < limitsMax ? (
        <button type="button" onClick={() => setLimits([...limits, newLimit])}>
          Add a limit
        </button>
      ) : null}
    </ChangeForm>
  );
}

interface SubjectFieldProps {
  readonly subject: string;
  readonly onChange: (subject: string) => void;
}

/** Those who have spent something are offered. */
function SubjectField({ subject, onChange }: SubjectFieldProps): ReactNode {
  const spenders = useAnswer('gateway', 'GET /api/v1/spend', {
    query: { groupBy: 'key', limit: 100 },
  });
  return (
    <Field label="User or key" hint="the id of a user, or the service of an API key">
      <input
        required
        list="spenders"
        value={subject}
        onChange={({ target }) => onChange(target.value.trim())}
      />
      <datalist id="spenders">
        {spenders.data?.spend.map(({ group, name }) => (
          <option key={group} value={group}>
            {name}
          </option>
        ))}
      </datalist>
    </Field>
  );
}

interface LimitFieldsProps {
  readonly limit: LimitForm;
  readonly onChange: (limit: LimitForm) => void;
  readonly onRemove: (() => void) | undefined;
}

function LimitFields({ limit, onChange, onRemove }: LimitFieldsProps): ReactNode {
  return (
    <div className="row limit-fields">
      <Field label="At most">
        <input
          required
          type="number"
          min={0}
          step="any"
          value={limit.amount}
          onChange={({ target }) => onChange({ ...limit, amount: target.value })}
        />
      </Field>
      <Field label="of">
        <select
          value={limit.unit}
          onChange={({ target }) =>
            onChange({ ...limit, unit: units.find((unit) => unit === target.value) ?? limit.unit })
          }
        >
          {units.map((unit) => (
            <option key={unit}>{unit}</option>
          ))}
        </select>
      </Field>
      <Field label="a">
        <select
          value={limit.period}
          onChange={({ target }) =>
            onChange({
              ...limit,
              period: periods.find((period) => period === target.value) ?? limit.period,
            })
          }
        >
          {periods.map((period) => (
            <option key={period}>{period}</option>
          ))}
        </select>
      </Field>
      {onRemove ? (
        <button type="button" className="quiet" aria-label="Remove this limit" onClick={onRemove}>
          ✕
        </button>
      ) : null}
    </div>
  );
}
