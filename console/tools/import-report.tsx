import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { ImportReportData } from './import-needs.ts';

const reasons: Readonly<Record<string, string>> = {
  already_registered: 'is registered already',
  name_taken: 'another connection has its name',
  input_needed: 'a part of it is not known',
  disabled: 'is switched off in the file',
  unsupported: 'cannot be done by the registry',
  ambiguous: 'does not say which of these counts:',
};

/** What became of each entry of a file. */
export function ImportReport({ report }: { readonly report: ImportReportData }): ReactNode {
  const { imported, skipped, errors, dryRun, format } = report;
  return (
    <section aria-label="What became of it" aria-live="polite">
      <p>
        Read as {format}: {imported.length} {dryRun ? 'would be imported' : 'imported'},{' '}
        {skipped.length} skipped, {errors.length} refused.
      </p>
      <ul>
        {imported.map(({ name, id, protocol, needs, unknown = [] }) => (
          <li key={name}>
            {id ? <Link href={`/${id}`}>{name}</Link> : name} ({protocol})
            {needs.length > 0 ? `, without ${needs.join(', ')}` : ''}
            {unknown.length > 0 ? `; passed over: ${unknown.join(', ')}` : ''}
          </li>
        ))}
        {skipped.map(({ name, reason, needs = [], unknown = [] }) => (
          <li key={name} className="faint">
            {name}: {reasons[reason] ?? reason} {[...needs, ...unknown].join(', ')}
          </li>
        ))}
        {errors.map(({ name, code, message }) => (
          <li key={name} className="bad-text">
            {name}: {message} ({code})
          </li>
        ))}
      </ul>
    </section>
  );
}
