import { useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import { useAnswer, useChange } from '../../api/answers.ts';
import type { Answer } from '../../api/contracts.ts';
import { Answered } from '../../ui/answered.tsx';
import { ChangeForm } from '../../ui/change-form.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Field } from '../../ui/field.tsx';
import {
  allOf,
  byConnection,
  isAllowed,
  toggleConnection,
  toggleTool,
  type AllowedTools,
} from './tool-rules.ts';

type Rules = Answer<'chat', 'GET /api/conversations/:id/tools'>;
type Tool = Answer<'chat', 'GET /api/tools'>['tools'][number];

/** As many as the service lists at once. */
const limit = 1_000;

const approvals: readonly (readonly [Rules['approval'], string])[] = [
  ['writes', 'Ask me before a call that may change something'],
  ['always', 'Ask me before each call'],
  ['never', 'Never ask me'],
];

export interface ToolFormProps {
  readonly conversationId: string;
  readonly rules: Rules;
  readonly onClose: () => void;
}

/** Chooses the tools of a conversation, and which calls of them wait for their user. */
export function ToolForm({ conversationId, rules, onClose }: ToolFormProps): ReactNode {
  const [allowed, setAllowed] = useState<AllowedTools>(new Set(rules.allow));
  const [approval, setApproval] = useState(rules.approval);
  const tools = useAnswer('chat', 'GET /api/tools', { query: { limit } });
  const change = useChange('chat', 'PUT /api/conversations/:id/tools');
  const save = () => {
    const body = { allow: [...allowed], approval };
    change.mutate({ params: { id: conversationId }, body }, { onSuccess: onClose });
  };
  return (
    <ChangeForm change={change} action="Save" onSubmit={save} onCancel={onClose}>
      <Answered query={tools}>
        {(answer) => <ToolBoxes tools={answer.tools} allowed={allowed} onChange={setAllowed} />}
      </Answered>
      <Left title="Allowed, but not there now" names={rules.missing} />
      <Left title="Allowed, but more than a model is told of" names={rules.left_out} />
      <Field label="Approval">
        <select
          value={approval}
          onChange={({ target }) =>
            setApproval(approvals.find(([value]) => value === target.value)?.[0] ?? 'writes')
          }
        >
          {approvals.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </Field>
    </ChangeForm>
  );
}

interface ToolBoxesProps {
  readonly tools: readonly Tool[];
  readonly allowed: AllowedTools;
  readonly onChange: (allowed: AllowedTools) => void;
}

function ToolBoxes({ tools, allowed, onChange }: ToolBoxesProps): ReactNode {
  if (tools.length === 0) {
    return (
      <Empty title="There are no tools yet">
        <p>
          They come from MCP servers: <Link href="~/tools">connect one</Link>.
        </p>
      </Empty>
    );
  }
  return (
    <div className="tool-boxes">
      {[...byConnection(tools)].map(([connection, siblings]) => (
        <fieldset key={connection}>
          <legend>{connection}</legend>
          <label>
            <input
              type="checkbox"
              checked={allowed.has(allOf(connection))}
              onChange={() => onChange(toggleConnection(allowed, connection, siblings))}
            />
            <span>All of {connection}, also those that it has later</span>
          </label>
          {siblings.map((tool) => (
            <label key={tool.name}>
              <input
                type="checkbox"
                checked={isAllowed(allowed, tool)}
                onChange={() => onChange(toggleTool(allowed, tool, siblings))}
              />
              <span>
                <strong>{tool.title ?? tool.name.slice(connection.length + 2)}</strong>{' '}
                <span className="faint">
                  {tool.needs_approval ? 'may change something. ' : ''}
                  {tool.description}
                </span>
              </span>
            </label>
          ))}
        </fieldset>
      ))}
    </div>
  );
}

function Left({ title, names }: { readonly title: string; readonly names: readonly string[] }) {
  if (names.length === 0) return null;
  return (
    <p className="faint">
      {title}: {names.join(', ')}
    </p>
  );
}
