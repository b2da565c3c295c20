import type { ReactNode } from 'react';
import { useAnswer } from '../../api/answers.ts';
import { Answered } from '../../ui/answered.tsx';
import { ModalButton } from '../../ui/modal-button.tsx';
import { ToolForm } from './tool-form.tsx';

/** Says how many tools a conversation may use, and opens the choice of them. */
export function ToolChoice({ conversationId }: { readonly conversationId: string }): ReactNode {
  const rules = useAnswer('chat', 'GET /api/conversations/:id/tools', {
    params: { id: conversationId },
  });
  const count = rules.data?.tools.length ?? 0;
  return (
    <ModalButton label={count > 0 ? `Tools: ${count}` : 'Tools'} title="Tools of this conversation">
      {(close) => (
        <Answered query={rules}>
          {(answer) => <ToolForm conversationId={conversationId} rules={answer} onClose={close} />}
        </Answered>
      )}
    </ModalButton>
  );
}
