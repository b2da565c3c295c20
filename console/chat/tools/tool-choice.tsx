import { useState, type ReactNode } from 'react';
import { useAnswer } from '../../api/answers.ts';
import { Answered } from '../../ui/answered.tsx';
import { Modal } from '../../ui/modal.tsx';
import { ToolForm } from './tool-form.tsx';

/** Says how many tools a conversation may use, and opens the choice of them. */
export function ToolChoice({ conversationId }: { readonly conversationId: string }): ReactNode {
  const [isOpen, setIsOpen] = useState(false);
  const rules = useAnswer('chat', 'GET /api/conversations/:id/tools', {
    params: { id: conversationId },
  });
  const count = rules.data?.tools.length ?? 0;
  return (
    <>
      <button type="button" aria-haspopup="dialog" onClick={() => setIsOpen(true)}>
        Tools{count > 0 ? `: ${count}` : ''}
      </button>
      {isOpen ? (
        <Modal title="Tools of this conversation" onClose={() => setIsOpen(false)}>
          <Answered query={rules}>
            {(answer) => (
              <ToolForm
                conversationId={conversationId}
                rules={answer}
                onClose={() => setIsOpen(false)}
              />
            )}
          </Answered>
        </Modal>
      ) : null}
    </>
  );
}
