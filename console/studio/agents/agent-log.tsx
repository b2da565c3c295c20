import { useEffect, useRef, useState, type ReactNode } from 'react';
import { Badge } from '../../ui/badge.tsx';
import { Problem } from '../../ui/problem.tsx';
import type { LogLine } from '../answers.ts';
import { useAgentLog } from './use-agent-log.ts';

export interface AgentLogProps {
  readonly id: string;
  readonly hasEnded: boolean;
}

/** What an agent prints, as it prints it. It stays at its end unless one scrolls up. */
export function AgentLog(props: AgentLogProps): ReactNode {
  const [isWhole, setIsWhole] = useState(false);
  return (
    <LogBox key={String(isWhole)} {...props} isWhole={isWhole} onWhole={() => setIsWhole(true)} />
  );
}

interface LogBoxProps extends AgentLogProps {
  readonly isWhole: boolean;
  readonly onWhole: () => void;
}

function LogBox({ id, hasEnded, isWhole, onWhole }: LogBoxProps) {
  const { lines, state, error } = useAgentLog(id, isWhole);
  const box = useRef<HTMLDivElement>(null);
  const [isAtEnd, setIsAtEnd] = useState(true);
  const last = lines.at(-1)?.seq ?? 0;
  useEffect(() => {
    if (last > 0 && isAtEnd && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [last, isAtEnd]);
  return (
    <section className="card stack" aria-label="Log of the agent">
      <div className="row">
        <h2>Log</h2>
        {!isWhole && (lines[0]?.seq ?? 1) > 1 ? (
          <button type="button" onClick={onWhole}>
            Show all that is kept
          </button>
        ) : null}
        {hasEnded ? null : <Badge state={state} tone={state === 'live' ? 'good' : 'warning'} />}
      </div>
      {error ? <Problem error={error} /> : null}
      <div
        ref={box}
        className="log mono"
        role="log"
        aria-label="Lines of the log"
        // A box that scrolls is reached with the keyboard.
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) =>
          setIsAtEnd(scrollHeight - scrollTop - clientHeight < 8)
        }
      >
        {lines.length === 0 ? <p className="faint">It has printed nothing yet.</p> : null}
        {lines.map((line) => (
          <Line key={line.seq} line={line} />
        ))}
      </div>
    </section>
  );
}

function Line({ line: { at, stream, text } }: { readonly line: LogLine }) {
  return (
    <div className={`log-line ${stream}`}>
      <time dateTime={at} title={at}>
        {new Date(at).toLocaleTimeString()}
      </time>{' '}
      {stream === 'stdout' ? '' : `${stream}: `}
      {text}
    </div>
  );
}
