import type { Workflow } from '../../definitions/workflow.ts';
import type { Flow } from '../../flow/flow.ts';
import { ownFormat } from '../document.ts';
import { fieldsOf, listOf, textOf, type Fields } from '../fields.ts';

/** A workflow as a document that any installation of ours takes. */
export interface OwnDocument {
  readonly format: string;
  readonly name: string;
  readonly description: string;
  readonly category: string;
  readonly tags: readonly string[];
  readonly flow: Flow;
}

/** The document of a workflow; ids, owner and secrets stay behind. */
export function exportOwn(
  { name, description, category, tags }: Workflow,
  flow: Flow,
): OwnDocument {
  return { format: ownFormat, name, description, category, tags, flow };
}

/** What such a document says; the flow is unchecked. */
export function readOwn(document: Fields) {
  const tags = listOf(document['tags']).filter((tag): tag is string => typeof tag === 'string');
  const labels = {
    name: textOf(document['name']),
    description: textOf(document['description']).slice(0, 4_000),
    category: textOf(document['category']).slice(0, 64) || 'imported',
    tags: tags.slice(0, 20).map((tag) => tag.slice(0, 64)),
  };
  return { labels, flow: fieldsOf(document['flow']) };
}
