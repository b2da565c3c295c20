import { useEffect, useState, type ReactNode } from 'react';
import { Route, Switch, useLocation } from 'wouter';
import { ChatContext, makeChatState } from './chat-context.ts';
import { useChatSocket } from './chat-socket.ts';
import './chat.css';
import { ConversationPane } from './conversations/conversation-pane.tsx';
import { NewConversation } from './conversations/new-conversation.tsx';
import { NoSuchPage } from '../ui/no-such-page.tsx';
import { ConversationView } from './thread/conversation-view.tsx';

/** Conversations at the left, and one of them. */
export function ChatPage(): ReactNode {
  const [state] = useState(makeChatState);
  const [location] = useLocation();
  const openId = location.slice(1);
  useEffect(() => state.turns.keepOnly(openId), [state, openId]);
  useEffect(() => () => state.turns[Symbol.dispose](), [state]);
  useChatSocket();
  return (
    <ChatContext value={state}>
      <div className="chat">
        <ConversationPane openId={openId} />
        <Switch>
          <Route path="/:id">{({ id }) => <ConversationView key={id} id={id} />}</Route>
          <Route path="/">
            <NewConversation />
          </Route>
          <Route>
            <NoSuchPage />
          </Route>
        </Switch>
      </div>
    </ChatContext>
  );
}
