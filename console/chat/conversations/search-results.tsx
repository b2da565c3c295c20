import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { call } from '../../api/call.ts';
import type { Answer } from '../../api/contracts.ts';
import { Answered } from '../../ui/answered.tsx';
import { Empty } from '../../ui/empty.tsx';
import { readSnippet } from '../text/snippet.ts';

type Found = Answer<'chat', 'POST /api/search'>;

const limit = 30;

/** Messages that say or mean what is looked for. */
export function SearchResults({ query }: { readonly query: string }): ReactNode {
  const found = useQuery({
    queryKey: ['chat', 'search', query],
    queryFn: () => call('chat', 'POST /api/search', { body: { query, limit } }),
    placeholderData: keepPreviousData,
  });
  return <Answered query={found}>{(answer) => <Hits found={answer} />}</Answered>;
}

function Hits({ found: { results, total, total_is_exact: isExact } }: { readonly found: Found }) {
  if (results.length === 0) {
    return (
      <Empty title="Nothing was found">
        <p>Words and their meaning are looked for; “…” stands for exactly these words.</p>
      </Empty>
    );
  }
  return (
    <>
      <output className="faint conversations-note">
        {isExact ? '' : 'at least '}
        {total} {total === 1 ? 'message' : 'messages'}
        {total > results.length ? `, the best ${results.length} here` : ''}
      </output>
      <ul className="conversation-list">
        {results.map(({ id, conversation_id: conversationId, metadata }) => (
          <li key={id}>
            <Link href={`/${conversationId}`} className="conversation-link">
              <span className="conversation-title">{metadata.title}</span>
              <span className="snippet">
                <Snippet html={metadata.snippet} />
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </>
  );
}

function Snippet({ html }: { readonly html: string }): ReactNode {
  return readSnippet(html).map(({ text, isMatch }, index) =>
    // Parts of a text have no names but their places.
    // oxlint-disable-next-line react/no-array-index-key
    isMatch ? <mark key={index}>{text}</mark> : text,
  );
}
