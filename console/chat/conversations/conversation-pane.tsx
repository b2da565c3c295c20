import { useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import { useSettled } from '../../ui/use-settled.ts';
import { ConversationList } from './conversation-list.tsx';
import { SearchResults } from './search-results.tsx';

/** All conversations, or what was found in them. */
export function ConversationPane({ openId }: { readonly openId: string }): ReactNode {
  const [query, setQuery] = useState('');
  const wanted = useSettled(query.trim());
  return (
    <aside className="conversations" aria-label="Conversations">
      <div className="conversations-head">
        <Link href="/" className="button">
          New chat
        </Link>
        <input
          type="search"
          aria-label="Search in conversations"
          placeholder="Search"
          value={query}
          onChange={({ target }) => setQuery(target.value)}
        />
      </div>
      {wanted === '' ? <ConversationList openId={openId} /> : <SearchResults query={wanted} />}
    </aside>
  );
}
