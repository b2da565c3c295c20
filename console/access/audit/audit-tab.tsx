import { useState, type FormEvent, type ReactNode } from 'react';
import { useAnswer } from '../../api/answers.ts';
import { Answered } from '../../ui/answered.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Field } from '../../ui/field.tsx';
import { filled, textOf } from '../../ui/form-values.ts';
import { fromLocalTime, toLocalTime } from '../../ui/local-time.ts';
import { Pager } from '../../ui/pager.tsx';
import { AuditTable } from './audit-table.tsx';
import { Verification } from './verification.tsx';

const limit = 50;

interface Filter {
  readonly eventType?: string;
  readonly userId?: string;
  readonly clientId?: string;
  readonly since?: string;
  readonly until?: string;
}

/** What was done and refused, the newest first, and the proof that nothing of it was changed. */
export function AuditTab(): ReactNode {
  const [offset, setOffset] = useState(0);
  const [filter, setFilter] = useState<Filter>({});
  const listed = useAnswer('auth', 'GET /api/v1/auth/audit', {
    query: { limit, offset, ...filter },
  });
  const narrow = (next: Filter) => {
    setOffset(0);
    setFilter(next);
  };
  return (
    <div className="stack">
      <Verification />
      <FilterForm key={JSON.stringify(filter)} filter={filter} onFilter={narrow} />
      <Answered query={listed}>
        {({ events, total }) =>
          events.length === 0 && offset === 0 ? (
            <Empty title="No event is so">
              <p>
                <button type="button" onClick={() => narrow({})}>
                  Show all
                </button>
              </p>
            </Empty>
          ) : (
            <>
              <AuditTable
                events={events}
                onType={(eventType) => narrow({ ...filter, eventType })}
                onUser={(userId) => narrow({ ...filter, userId })}
              />
              <Pager total={total} limit={limit} offset={offset} onMove={setOffset} />
            </>
          )
        }
      </Answered>
    </div>
  );
}

interface FilterFormProps {
  readonly filter: Filter;
  readonly onFilter: (filter: Filter) => void;
}

function FilterForm({ filter, onFilter }: FilterFormProps) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    onFilter({
      ...filled(form, 'eventType'),
      ...filled(form, 'userId'),
      ...filled(form, 'clientId'),
      ...timeOf(form, 'since'),
      ...timeOf(form, 'until'),
    });
  };
  return (
    <form className="filters" onSubmit={submit}>
      <Field label="Event">
        <input name="eventType" placeholder="login_failure" defaultValue={filter.eventType} />
      </Field>
      <Field label="User id">
        <input name="userId" defaultValue={filter.userId} />
      </Field>
      <Field label="Client">
        <input name="clientId" defaultValue={filter.clientId} />
      </Field>
      <Field label="From">
        <input
          name="since"
          type="datetime-local"
          step="1"
          defaultValue={toLocalTime(filter.since ?? '')}
        />
      </Field>
      <Field label="To">
        <input
          name="until"
          type="datetime-local"
          step="1"
          defaultValue={toLocalTime(filter.until ?? '')}
        />
      </Field>
      <button type="submit">Filter</button>
      <button type="button" className="quiet" onClick={() => onFilter({})}>
        Show all
      </button>
    </form>
  );
}

function timeOf<K extends 'since' | 'until'>(form: FormData, name: K): { [P in K]?: string } {
  const time = fromLocalTime(textOf(form, name));
  return (time === '' ? {} : { [name]: time }) as { [P in K]?: string };
}
