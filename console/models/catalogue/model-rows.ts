import type { Answer } from '../../api/contracts.ts';
import { hasWords } from '../../ui/entry-text.ts';

export type Listed = Answer<'gateway', 'GET /api/v1/models'>['data'][number];
export type Provider = Answer<'gateway', 'GET /api/v1/providers'>['providers'][number];
type ProviderModel = Provider['models'][number];

/** A model that can be asked for, with what its provider says of it. */
export interface ModelRow {
  /** What a request names. */
  readonly id: string;
  readonly provider: string;
  /** Absent where a provider has just come or gone. */
  readonly facts: ProviderModel | undefined;
}

/** Finds each model with its provider, under its own name or under that of both. */
export function toRows(
  listed: readonly Listed[],
  providers: readonly Provider[],
): readonly ModelRow[] {
  const facts = new Map(
    providers.flatMap(({ name, models }) =>
      models.map((model): [string, ProviderModel] => [`${name}/${model.name}`, model]),
    ),
  );
  return listed.map(({ id, owned_by: provider }) => ({
    id,
    provider,
    facts: facts.get(`${provider}/${id}`) ?? facts.get(id),
  }));
}

/** The models whose name, provider or capabilities have all words of a query. */
export function findRows(rows: readonly ModelRow[], query: string): readonly ModelRow[] {
  return rows.filter(({ id, provider, facts }) =>
    hasWords([id, provider, ...(facts?.capabilities ?? [])].join(' '), query),
  );
}
