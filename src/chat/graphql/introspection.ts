import { visit, BREAK, type DocumentNode } from 'graphql/index.js';

/** Answers whether a document asks what the schema is, beyond `__typename`; looks at each but once. */
export function schemaQuestions(): (document: DocumentNode) => boolean {
  const known = new WeakMap<DocumentNode, boolean>();
  return (document) => {
    const answer = known.get(document) ?? asksForSchema(document);
    known.set(document, answer);
    return answer;
  };
}

function asksForSchema(document: DocumentNode): boolean {
  let isFound = false;
  visit(document, {
    Field: ({ name: { value } }) => {
      if (value !== '__schema' && value !== '__type') return undefined;
      isFound = true;
      return BREAK;
    },
  });
  return isFound;
}
